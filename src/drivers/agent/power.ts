import { AgentClient, rebootCommand } from '../../agent/client.ts'
import { AgentConnectionFailed } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import { PowerStateFailure } from '../../errors/driver.ts'
import type { PowerState } from '../../domain/states.ts'
import { PowerInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { agentIsAlive, fastTrackEnabled } from './fast-track.ts'
import { dropInternal, internal } from './internal-info.ts'

/** How long a machine takes to go down after the agent was told to reboot it. */
const goingDownMs = 30_000

/** Power without a BMC: the running agent can reboot its machine, and that is all. Needs fast track. */
export class AgentPower extends PowerInterface {
  readonly name: string = 'agent'
  protected readonly client: AgentClient

  constructor(parts: DriverParts) {
    super(parts)
    this.client = parts.shared.of(AgentClient, parts)
  }

  override validate(task: Task): Promise<void> {
    const { node } = task
    if (!fastTrackEnabled(node, this.parts.config)) {
      return Promise.reject(
        new InvalidParameterValue(
          `Power interface agent of node ${node.uuid} needs fast track; set [deploy]fast_track, or fast_track in driver_info.`,
        ),
      )
    }
    if (!agentIsAlive(node, this.parts.config, this.parts.clock.now())) {
      return Promise.reject(
        new InvalidParameterValue(
          `The agent on node ${node.uuid} is not heard of, so power interface agent cannot be used.`,
        ),
      )
    }
    return Promise.resolve()
  }

  override supportsPowerSync(_task: Task): boolean {
    return false
  }

  override supportedPowerStates(_task: Task): readonly string[] {
    return ['rebooting', 'soft rebooting']
  }

  /** On while the agent is heard of; else nobody knows. */
  override getPowerState(task: Task): Promise<PowerState> {
    return Promise.resolve(agentIsAlive(task.node, this.parts.config, this.parts.clock.now()) ? 'power on' : null)
  }

  override async setPowerState(task: Task, target: string): Promise<void> {
    if (!this.supportedPowerStates(task).includes(target)) throw new PowerStateFailure({ pstate: target })
    await this.reboot(task)
  }

  override async reboot(task: Task, { timeout = null }: { timeout?: number | null } = {}): Promise<void> {
    const { node, clock, signal } = task
    await this.client.reboot(node, signal)
    // the next boot brings a new token and maybe another address
    if (internal(node, 'agent_secret_token_pregenerated') !== true) dropInternal(node, 'agent_secret_token')
    dropInternal(node, 'agent_url')
    await task.save()
    await clock.sleep(goingDownMs, signal)
    const within = node.provision_state === 'deploying' || node.provision_state === 'cleaning'
    if (!within || !(internal(node, 'deployment_reboot') || internal(node, 'cleaning_reboot'))) return
    await task.downgradeLock()
    try {
      await this.#waitUntilBack(task, timeout)
    } finally {
      await task.upgradeLock('agent power')
    }
  }

  /** Heartbeats come in meanwhile and bring the new address. */
  async #waitUntilBack(task: Task, timeout: number | null): Promise<void> {
    const { post_deploy_get_power_state_retries: retries, post_deploy_get_power_state_retry_interval: interval } =
      this.parts.config.agent
    const until = task.clock.now().getTime() + (timeout || retries * interval) * 1000
    for (;;) {
      await task.refresh()
      let reason = 'it still runs the reboot'
      try {
        const commands = await this.client.commandsStatus(task.node, { retry: false, signal: task.signal })
        if (!commands.some((command) => command.command_name === rebootCommand)) return
      } catch (error) {
        if (!(error instanceof AgentConnectionFailed)) {
          if (!(error instanceof IronicError)) throw error
          throw new PowerStateFailure(`Node ${task.node.uuid} could not be rebooted by its agent: ${error.message}`, {
            cause: error,
          })
        }
        reason = error.message
      }
      if (task.clock.now().getTime() >= until) {
        throw new PowerStateFailure(`The agent on node ${task.node.uuid} did not come back after a reboot: ${reason}`)
      }
      await task.clock.sleep(interval * 1000, task.signal)
    }
  }
}
