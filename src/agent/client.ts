import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import { pauses } from '../domain/polling.ts'
import type { Step } from '../domain/steps.ts'
import {
  AgentAPIError,
  AgentCommandTimeout,
  AgentConnectionFailed,
  AgentInProgress,
  InstanceRescueFailure,
} from '../errors/agent.ts'
import { IronicError } from '../errors/define.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Node, Port } from '../objects/index.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { type AgentCommand, commandError, listedName } from './commands.ts'
import { nodeForAgent, portForAgent, stepForAgent } from './payload.ts'
import { type AgentAnswer, AgentTransport, NoAnswer } from './transport.ts'

/** Steps that an agent offers or runs. */
export type AgentPhase = 'clean' | 'deploy' | 'service'

export interface AgentClientParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
}

interface CommandOptions {
  /** the agent answers when the command has ended */
  readonly wait?: boolean
  /** we ask until it has ended: for what takes longer than one answer may */
  readonly poll?: boolean
  readonly signal?: AbortSignal
}

const noSignal = new AbortController().signal

/** Client of ironic-python-agent's API (`/v1/commands`). The token travels in the query, which is never logged. */
export class AgentClient {
  readonly #parts: AgentClientParts
  readonly #transport: AgentTransport

  constructor(parts: AgentClientParts) {
    this.#parts = parts
    this.#transport = new AgentTransport(parts.config)
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  /**
   * Sends a command.
   * @throws AgentAPIError the agent refused it, or it failed with a TypeError (an agent that does not know a parameter)
   * @throws AgentInProgress the agent runs another command
   * @throws AgentConnectionFailed no answer, and the agent is not running this command either
   * @throws AgentCommandTimeout `poll`: it did not end within `[agent]command_wait_attempts`
   */
  async command(node: Node, method: string, params: JsonDict, options: CommandOptions = {}): Promise<AgentCommand> {
    const attempts = Math.max(1, this.#parts.config.agent.max_command_attempts)
    let result: AgentCommand
    for (let attempt = 1; ; attempt++) {
      try {
        result = await this.#commandOnce(node, method, params, options)
        break
      } catch (error) {
        if (!(error instanceof AgentConnectionFailed) || attempt >= attempts) throw error
        this.#parts.log.debug(`Agent command ${method} on node ${node.uuid}: attempt ${attempt} of ${attempts} failed`)
      }
    }
    return options.poll === true ? await this.#waitFor(node, method, options.signal ?? noSignal) : result
  }

  /**
   * All commands that the agent has got since it started, oldest first.
   * @param retry false: one attempt only
   * @throws AgentConnectionFailed, AgentAPIError
   */
  async commandsStatus(
    node: Node,
    { retry = true, signal = noSignal }: { retry?: boolean; signal?: AbortSignal } = {},
  ): Promise<AgentCommand[]> {
    const attempts = retry ? Math.max(1, this.#parts.config.agent.max_command_attempts) : 1
    const url = this.#commandsUrl(node, {})
    for (let attempt = 1; ; attempt++) {
      try {
        return commandsIn(node, await this.#transport.send(node, { method: 'GET', url, signal: this.#limited(signal) }))
      } catch (error) {
        if (!(error instanceof NoAnswer) && !isTimeout(error)) throw error
        if (attempt >= attempts) {
          throw new AgentConnectionFailed(
            { reason: `no answer to the question for command states from node ${node.uuid}: ${reasonOf(error)}` },
            { cause: error },
          )
        }
      }
    }
  }

  /** The newest command of that name, or null. */
  async lastCommand(node: Node, method: string, signal?: AbortSignal): Promise<AgentCommand | null> {
    const name = listedName(method)
    const commands = await this.commandsStatus(node, signal === undefined ? {} : { signal })
    return commands.findLast((command) => command.command_name === name) ?? null
  }

  async getSteps(phase: AgentPhase, node: Node, ports: readonly Port[], signal?: AbortSignal): Promise<AgentCommand> {
    const params = { node: nodeForAgent(node), ports: ports.map((port) => portForAgent(port, node)) }
    try {
      return await this.command(node, `${phase}.get_${phase}_steps`, params, withSignal(signal, { wait: true }))
    } catch (error) {
      // agents before servicing was known have none
      if (phase !== 'service' || !(error instanceof AgentAPIError)) throw error
      this.#parts.log.warning(`The agent on node ${node.uuid} offers no service steps; it may be too old`, { error })
      const none = { service_steps: {}, hardware_manager_version: 0 }
      return { command_name: 'get_service_steps', command_status: 'SUCCEEDED', command_result: none }
    }
  }

  async executeStep(
    phase: AgentPhase,
    step: Partial<Step>,
    node: Node,
    ports: readonly Port[],
    signal?: AbortSignal,
  ): Promise<AgentCommand> {
    const params = {
      step: stepForAgent(step),
      node: nodeForAgent(node, { configdrive: phase === 'deploy' }),
      ports: ports.map((port) => portForAgent(port, node)),
      [`${phase}_version`]: (node.driver_internal_info?.['hardware_manager_version'] as unknown) ?? null,
    }
    return await this.command(node, `${phase}.execute_${phase}_step`, params, withSignal(signal))
  }

  async getPartitionUuids(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    return await this.command(node, 'standby.get_partition_uuids', {}, withSignal(signal, { wait: true }))
  }

  /** @param softwareRaid then an agent that does not know `target_boot_mode` cannot do the work in UEFI mode */
  async installBootloader(
    node: Node,
    where: { rootUuid: string | null; efiUuid: string | null; prepUuid: string | null; bootMode: string },
    softwareRaid: boolean,
    signal?: AbortSignal,
  ): Promise<AgentCommand> {
    const params = {
      root_uuid: where.rootUuid,
      efi_system_part_uuid: where.efiUuid,
      prep_boot_part_uuid: where.prepUuid,
    }
    const options = withSignal(signal, { poll: true })
    try {
      return await this.command(
        node,
        'image.install_bootloader',
        { ...params, target_boot_mode: where.bootMode },
        options,
      )
    } catch (error) {
      if (!(error instanceof AgentAPIError) || (where.bootMode === 'uefi' && softwareRaid)) throw error
      this.#parts.log.warning(`Boot loader on node ${node.uuid}: trying the form that older agents take`, { error })
      return await this.command(node, 'image.install_bootloader', params, options)
    }
  }

  async powerOff(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    return await this.command(node, 'standby.power_off', {}, withSignal(signal))
  }

  /** Reboots from inside. */
  async reboot(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    return await this.command(node, `standby.${rebootCommand}`, {}, withSignal(signal))
  }

  /** Writes file system buffers to disk. */
  async sync(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    return await this.command(node, 'standby.sync', {}, withSignal(signal, { wait: true }))
  }

  async collectSystemLogs(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    return await this.command(node, 'log.collect_system_logs', {}, withSignal(signal, { wait: true }))
  }

  /**
   * Hands over the hashed rescue password; the agent then stops heartbeating.
   * @throws InstanceRescueFailure the agent is too old for a hashed password and `[conductor]require_rescue_password_hashed`
   */
  async finalizeRescue(node: Node, signal?: AbortSignal): Promise<AgentCommand> {
    const hashed: unknown = node.instance_info?.['hashed_rescue_password']
    if (typeof hashed !== 'string' || hashed === '') {
      throw new IronicError(`Node ${node.uuid} has no rescue_password in instance_info, which agent rescue needs.`)
    }
    const options = withSignal(signal)
    try {
      return await this.command(node, 'rescue.finalize_rescue', { rescue_password: hashed, hashed: true }, options)
    } catch (error) {
      if (!(error instanceof AgentAPIError)) throw error
      if (this.#parts.config.conductor.require_rescue_password_hashed) {
        throw new InstanceRescueFailure(
          'The rescue ramdisk does not take a hashed password; it needs ironic-python-agent 6.0.0 or newer.',
          { cause: error },
        )
      }
      const clear = { rescue_password: node.instance_info?.['rescue_password'] as unknown }
      return await this.command(node, 'rescue.finalize_rescue', clear, options)
    }
  }

  /**
   * Stops the agent for good, for nodes that cannot be powered off: it must not answer any more afterwards.
   * @param mayBeGone an agent that does not answer is as good as locked
   * @throws AgentCommandTimeout it still answers
   */
  async lockdown(node: Node, { mayBeGone = false, signal = noSignal } = {}): Promise<void> {
    const { config, clock, log } = this.#parts
    if (mayBeGone) {
      try {
        await this.commandsStatus(node, { signal })
      } catch (error) {
        if (error instanceof AgentConnectionFailed) return
        if (!(error instanceof IronicError)) throw error
        log.warning(`The agent on node ${node.uuid} gave no command states before lockdown; going on`, { error })
      }
    }
    await this.sync(node, signal)
    await this.command(node, 'system.lockdown', {}, { signal })
    const attempts = config.agent.post_deploy_get_power_state_retries + 1
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (attempt > 1) await clock.sleep(config.agent.post_deploy_get_power_state_retry_interval * 1000, signal)
      try {
        await this.commandsStatus(node, { signal })
      } catch (error) {
        if (error instanceof AgentConnectionFailed) return
        if (!(error instanceof IronicError)) throw error
      }
    }
    throw new AgentCommandTimeout({ command: 'system.lockdown', node: node.uuid })
  }

  async #commandOnce(
    node: Node,
    method: string,
    params: JsonDict,
    { wait = false, signal = noSignal }: CommandOptions,
  ): Promise<AgentCommand> {
    const { log } = this.#parts
    const url = this.#commandsUrl(node, { wait: String(wait) })
    log.debug(`Sending agent command ${method} to node ${node.uuid} (wait ${wait})`)
    let answer: AgentAnswer
    try {
      const body = JSON.stringify({ name: method, params })
      answer = await this.#transport.send(node, { method: 'POST', url, body, signal: this.#limited(signal) })
    } catch (error) {
      if (!(error instanceof NoAnswer) && !isTimeout(error)) throw error
      signal.throwIfAborted()
      return await this.#runningDespite(node, method, error, signal)
    }
    const result = parsed(node, method, answer)
    log.debug(
      `Agent command ${method} on node ${node.uuid}: HTTP ${answer.status}, ${result.command_status ?? 'no state'}`,
      result.command_error ? { commandError: commandError(result) } : {},
    )
    if (answer.status >= 400) {
      const fault = result.faultstring ?? 'no reason given'
      if (answer.status === 409 || fault.toLowerCase().includes('agent is busy')) {
        throw new AgentInProgress({ node: node.uuid, command: method, error: fault })
      }
      throw new AgentAPIError({ node: node.uuid, status: answer.status, error: fault })
    }
    refuseTypeError(node, result)
    return result
  }

  /** The command may have reached the agent although its answer was lost: then the agent runs it now. */
  async #runningDespite(node: Node, method: string, cause: unknown, signal: AbortSignal): Promise<AgentCommand> {
    try {
      const last = (await this.commandsStatus(node, { signal })).at(-1)
      if (last?.command_name === listedName(method) && last.command_status === 'RUNNING') return last
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      this.#parts.log.warning(`Command states of node ${node.uuid} after ${method} got no answer: none either`, {
        error,
      })
    }
    throw new AgentConnectionFailed(
      { reason: `no answer to command ${method} from node ${node.uuid}: ${reasonOf(cause)}` },
      { cause },
    )
  }

  async #waitFor(node: Node, method: string, signal: AbortSignal): Promise<AgentCommand> {
    const { command_wait_attempts: attempts, command_wait_interval: interval } = this.#parts.config.agent
    for (const pause of pauses(interval * 1000, attempts)) {
      await this.#parts.clock.sleep(pause, signal)
      const last = await this.lastCommand(node, method, signal)
      if (last === null || last.command_status === 'RUNNING') continue
      refuseTypeError(node, last)
      return last
    }
    throw new AgentCommandTimeout({ command: method, node: node.uuid })
  }

  #commandsUrl(node: Node, query: Record<string, string>): URL {
    const { driver_internal_info: internal } = node
    const base: unknown = internal?.['agent_url']
    if (typeof base !== 'string' || !URL.canParse(base)) {
      throw new AgentConnectionFailed({
        reason: `node ${node.uuid} has no agent_url in driver_internal_info; no agent has called in since it was started`,
      })
    }
    const url = new URL(`${base.replace(/\/+$/, '')}/${this.#parts.config.agent.agent_api_version}/commands/`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const token: unknown = internal?.['agent_secret_token']
    if (typeof token === 'string') url.searchParams.set('agent_token', token)
    return url
  }

  /** Every call ends, also when an agent trickles its answer: thrice the idle limit. */
  #limited(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#parts.config.agent.command_timeout * 3000)])
  }
}

/** What `standby` calls a reboot. */
export const rebootCommand = 'run_image'

const withSignal = (signal: AbortSignal | undefined, options: CommandOptions = {}): CommandOptions =>
  signal === undefined ? options : { ...options, signal }

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError'
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function parsed(node: Node, method: string, { status, text }: AgentAnswer): AgentCommand {
  const value = json(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IronicError(
      `The agent on node ${node.uuid} answered ${method} with status ${status} and something that is no JSON object (${text.length} characters).`,
    )
  }
  return value as AgentCommand
}

function commandsIn(node: Node, { status, text }: AgentAnswer): AgentCommand[] {
  const value = json(text) as { commands?: unknown; faultstring?: unknown } | undefined
  if (status >= 400 || !Array.isArray(value?.commands)) {
    const error = value?.faultstring ?? 'the answer holds no list of commands'
    throw new AgentAPIError({ node: node.uuid, status, error })
  }
  return value.commands as AgentCommand[]
}

function refuseTypeError(node: Node, command: AgentCommand): void {
  const error = command.command_error
  if (typeof error === 'object' && error?.type === 'TypeError') {
    throw new AgentAPIError({ node: node.uuid, status: error.code, error: commandError(command) })
  }
}
