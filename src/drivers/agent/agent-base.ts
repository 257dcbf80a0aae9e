import { AgentClient } from '../../agent/client.ts'
import { destroyVolumeTarget } from '../../db/volume-targets.ts'
import type { Step, StepPhase, StepResult } from '../../domain/steps.ts'
import { IronicError } from '../../errors/define.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { DeployInterface, type HeartbeatInfo } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { deployStepFailed } from './deploy-failure.ts'
import { handleHeartbeat } from './heartbeat.ts'
import { dropInternal } from './internal-info.ts'
import { withNetworkPower } from './network-power.ts'
import {
  bootAgentInsteadOfInstance,
  prepareInbandCleaning,
  tearDownInbandCleaning,
  tearDownInbandService,
} from './ramdisk-boot.ts'
import { collectRamdiskLogs } from './ramdisk-logs.ts'
import { cachedSteps, refreshSteps } from './step-cache.ts'
import { executeAgentStep } from './step-progress.ts'

/** What deploy interfaces share that work through the ramdisk agent: cleaning, servicing, tear down, heartbeats. */
export abstract class AgentDeployBase extends DeployInterface {
  protected readonly client: AgentClient
  /** logs of the ramdisk are worth having when a deploy fails */
  protected readonly collectDeployLogs: boolean = true

  constructor(parts: DriverParts) {
    super(parts)
    this.client = parts.shared.of(AgentClient, parts)
  }

  /** Does this service boot the agent, or does the machine by itself? */
  protected managesBoot(): boolean {
    return this.parts.config.agent.manage_agent_boot
  }

  override async heartbeat(task: Task, info: HeartbeatInfo): Promise<void> {
    await handleHeartbeat({ client: this.client, collectDeployLogs: this.collectDeployLogs }, task, info)
  }

  override async collectLogs(task: Task, label?: string): Promise<void> {
    await collectRamdiskLogs(this.client, task, label)
  }

  /** @returns nothing: the node is off (or not, with `disable_power_off`) and has no networks of its instance */
  override async tearDown(task: Task): Promise<void> {
    if (!task.node.disable_power_off) await task.powerAction('power off')
    await task.driver.storage.detachVolumes(task)
    await forgetVolumes(task)
    await withNetworkPower(task, async () => {
      await task.driver.network.unconfigureTenantNetworks(task)
      // a deploy that failed half-way may have left it
      await task.driver.network.removeProvisioningNetwork(task)
    })
  }

  override async cleanUp(task: Task): Promise<void> {
    if (this.managesBoot()) await task.driver.boot.cleanUpRamdisk(task)
    await task.driver.boot.cleanUpInstance(task)
    // it was not powered off, so it may still run what was deployed
    if (task.node.disable_power_off) await task.powerAction('rebooting')
  }

  override takeOver(_task: Task): Promise<void> {
    return Promise.resolve()
  }

  override async prepareCleaning(task: Task): Promise<'wait' | void> {
    const result = await prepareInbandCleaning(task, this.managesBoot())
    if (result === 'wait') return 'wait'
    await this.refreshNow(task, 'clean')
  }

  override async tearDownCleaning(task: Task): Promise<void> {
    await tearDownInbandCleaning(task, this.managesBoot())
  }

  override async prepareService(task: Task): Promise<'wait' | void> {
    await bootAgentInsteadOfInstance(
      task,
      () => task.driver.network.addServicingNetwork(task),
      this.parts.config.agent.manage_agent_boot,
    )
    return 'wait'
  }

  override async tearDownService(task: Task): Promise<void> {
    // it stays on: the agent must not be reachable beside the instance
    if (task.node.disable_power_off) {
      await this.client.lockdown(task.node, { mayBeGone: true, signal: task.signal })
    }
    await tearDownInbandService(task)
  }

  override async getSteps(phase: StepPhase, task: Task): Promise<Step[]> {
    const own = await super.getSteps(phase, task)
    const { node } = task
    switch (phase) {
      case 'clean': {
        const { erase_devices_priority, erase_devices_metadata_priority } = this.parts.config.deploy
        const priorities = {
          erase_devices: erase_devices_priority,
          erase_devices_metadata: erase_devices_metadata_priority,
        }
        return [...own, ...cachedSteps(node, 'clean', 'deploy', priorities)]
      }
      case 'service':
        return [...own, ...cachedSteps(node, 'service')]
      case 'deploy': {
        // a step of ours may prepare and then call the agent's step of the same name: ours is the one on offer
        const shadowed = new Set(own.map((step) => step.step))
        return [...own, ...cachedSteps(node, 'deploy', 'deploy').filter((step) => !shadowed.has(step.step))]
      }
      default:
        return own
    }
  }

  override async executeStep(phase: StepPhase, task: Task, step: Step): Promise<StepResult> {
    if (this.steps().some((spec) => spec.phase === phase && spec.step === step.step)) {
      return await super.executeStep(phase, task, step)
    }
    if (phase === 'verify') throw new IronicError(`Interface ${this.name} has no verify step ${step.step}.`)
    return await executeAgentStep(this.client, task, phase, step)
  }

  /** The agent runs already: its steps are needed at once. */
  protected async refreshNow(task: Task, phase: 'clean' | 'deploy' | 'service'): Promise<void> {
    if ((await refreshSteps(this.client, task, phase)) === 'busy') {
      throw new IronicError(
        `The agent on node ${task.node.uuid} is busy with another command, so its ${phase} steps cannot be read; try again later.`,
      )
    }
  }
}

/** Volume targets belong to an instance; they go with it. */
async function forgetVolumes(task: Task): Promise<void> {
  for (const target of await task.volumeTargets()) await destroyVolumeTarget(task.db, target.id)
  dropInternal(task.node, 'boot_from_volume', 'boot_from_volume_deploy')
  await task.save()
}

/** The last two steps of every deploy by the agent: away from the provisioning network, and on. */
export const outOfBandSteps = (client: AgentClient): StepSpec[] => [
  {
    phase: 'deploy',
    step: 'switch_to_tenant_network',
    priority: 30,
    run: async (task) => {
      try {
        await withNetworkPower(task, async () => {
          await task.driver.network.removeProvisioningNetwork(task)
          await task.driver.network.configureTenantNetworks(task)
        })
      } catch (error) {
        await outOfBandFailed(client, task, 'could not be moved to its tenant networks', error)
      }
    },
  },
  {
    phase: 'deploy',
    step: 'boot_instance',
    priority: 20,
    run: async (task) => {
      const { node } = task
      try {
        if (node.disable_power_off) await task.powerAction('rebooting')
        else if (task.driver.power.supportedPowerStates(task).includes('power on')) await task.powerAction('power on')
        else
          task.log.debug(`Power interface of node ${node.uuid} cannot power on; the instance is taken to run already`)
      } catch (error) {
        await outOfBandFailed(client, task, 'could not be started', error)
      }
    },
  },
]

/** The machine is off by then: there are no logs to collect. */
async function outOfBandFailed(client: AgentClient, task: Task, what: string, error: unknown): Promise<void> {
  if (!(error instanceof IronicError)) throw error
  await deployStepFailed(client, task, `Node ${task.node.uuid} ${what} after its deploy: ${error.message}`, {
    collectLogs: false,
    cause: error,
  })
}
