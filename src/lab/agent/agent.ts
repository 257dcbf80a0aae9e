import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SecureVersion } from 'node:tls'
import type { Dispatcher } from 'undici'
import type { Machine } from '../machine.ts'
import type { KernelCommand } from '../media/boot-config.ts'
import { makeIdentity } from './certificate.ts'
import type { Identity } from './certificate.ts'
import { CommandRunner } from './commands.ts'
import { agentCommands } from './extensions.ts'
import type { AgentSettings } from './extensions.ts'
import { takeFault } from './faults.ts'
import type { AgentFaults } from './faults.ts'
import { inspectionData } from './inventory.ts'
import { IronicApi, sentenceOf } from './ironic-api.ts'
import type { ApiAnswer } from './ironic-api.ts'
import { systemLogs } from './logs.ts'
import { startAgentServer } from './server.ts'
import type { ExtraStep } from './steps.ts'

export const agentVersion = '13.0.0'

/** What an agent needs of the world around its machine. */
export interface AgentParts {
  readonly machine: Machine
  readonly kernel: KernelCommand
  readonly http: Dispatcher
  /** address that the agent listens on and tells */
  readonly host: string
  readonly directory: string
  readonly extraSteps: readonly ExtraStep[]
  readonly faults: AgentFaults
}

/** Milliseconds after which a lookup is given up and the agent starts anew. */
const lookupLimit = 300_000
/** Attempts to hand over what inspection found, and milliseconds between them at first. */
const inspectionAttempts = 5

/**
 * Runs the agent as ironic-python-agent 13.0.0 runs: inspection if the kernel line asks for it, lookup, then the API and
 * the heartbeats, until the machine goes off or a command ends the agent.
 */
export async function runAgent(parts: AgentParts, signal: AbortSignal): Promise<void> {
  const agent = new Agent(parts, signal)
  for (;;) {
    const outcome = await agent.run()
    if (outcome === 'ended') return
    parts.machine.say('agent: gave up, starts anew')
    await sleep(parts.machine.timings.heartbeatPause, undefined, { signal })
  }
}

class Agent {
  readonly #parts: AgentParts
  readonly #signal: AbortSignal
  readonly #parameters: ReadonlyMap<string, string>
  readonly #api: IronicApi
  #settings: AgentSettings | undefined
  #token: string | undefined
  #forced = false
  #wake: () => void = () => {}
  #serving = new AbortController()

  constructor(parts: AgentParts, signal: AbortSignal) {
    this.#parts = parts
    this.#signal = signal
    this.#parameters = parts.kernel.parameters
    this.#token = this.#parameters.get('ipa-agent-token')
    this.#api = new IronicApi(this.#urls(), parts.http, this.#parameters.get('ipa-global-request-id'))
  }

  async run(): Promise<'ended' | 'failed'> {
    const { machine } = this.#parts
    machine.say(`agent: version ${agentVersion} starts`)
    const node = await this.#inspect()
    if (this.#urls().length === 0) {
      machine.say('agent: no ipa-api-url, no lookup and no heartbeats')
      return 'ended'
    }
    if (!(await this.#lookup(node))) return 'failed'
    if (this.#token === undefined) {
      machine.say('agent: no token, stops')
      return 'ended'
    }
    await this.#serve()
    return 'ended'
  }

  #urls(): string[] {
    return (this.#parameters.get('ipa-api-url') ?? '').split(',').filter((url) => url !== '')
  }

  /** Hands over the inventory when the kernel line asks for it. Returns the node's UUID as the answer told it. */
  async #inspect(): Promise<string | undefined> {
    const callback = this.#parameters.get('ipa-inspection-callback-url')
    const named = this.#parameters.get('ipa-inspection-collectors')
    if (callback === undefined && (named === undefined || this.#urls().length === 0)) return undefined
    if (this.#parts.faults.mute === true) return undefined
    const collectors = (named ?? 'default,logs').split(',')
    const urls =
      callback === undefined
        ? this.#urls().map((url) => `${url.replace(/\/$/, '')}/v1/continue_inspection`)
        : callback.split(',')
    const { machine } = this.#parts
    const data = inspectionData(machine, collectors, await systemLogs(machine.console))
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#tried(() => this.#api.continueInspection(urls, data, this.#signal))
      if (answer !== null && answer.status < 400) {
        machine.say('agent: inspection data taken')
        const { body } = answer
        return typeof body === 'object' && body !== null && 'uuid' in body ? String(body.uuid) : undefined
      }
      const retriable = answer === null || answer.status >= 500 || answer.status === 409
      machine.say(
        `agent: inspection data refused: ${answer === null ? 'no connection' : `${answer.status} ${sentenceOf(answer)}`}`,
      )
      if (!retriable || attempt >= inspectionAttempts) return undefined
      await sleep(machine.timings.heartbeatPause, undefined, { signal: this.#signal })
    }
  }

  /** null when no connection came about; an abort goes through */
  async #tried(call: () => Promise<ApiAnswer>): Promise<ApiAnswer | null> {
    try {
      return await call()
    } catch (error) {
      if (this.#signal.aborted) throw error
      this.#parts.machine.say(
        `agent: no connection to Ironic: ${error instanceof Error ? error.message : String(error)}`,
      )
      return null
    }
  }

  /** Asks who this machine is until an answer comes or the time is over. */
  async #lookup(node: string | undefined): Promise<boolean> {
    const { machine } = this.#parts
    const began = Date.now()
    await this.#tried(async () => {
      await this.#api.discover(this.#signal)
      return { status: 200, body: null }
    })
    let pause = machine.timings.lookupPause
    while (Date.now() - began < lookupLimit) {
      const answer = await this.#tried(() => this.#api.lookup([machine.identity.mac], node, this.#signal))
      if (answer?.status === 200) return this.#learn(answer.body)
      if (answer !== null) machine.say(`agent: lookup refused: ${answer.status} ${sentenceOf(answer)}`)
      await sleep(pause * (0.5 + Math.random()), undefined, { signal: this.#signal })
      pause = Math.min(pause * 2, 60 * machine.timings.lookupPause)
    }
    return false
  }

  /** Takes what the lookup told; false when the token is masked and none is known. */
  #learn(body: unknown): boolean {
    const { machine } = this.#parts
    if (
      !isRecord(body) ||
      !isRecord(body['node']) ||
      typeof body['node']['uuid'] !== 'string' ||
      !isRecord(body['config'])
    )
      return false
    const { node, config } = body as { node: Record<string, unknown>; config: Record<string, unknown> }
    const token = config['agent_token']
    if (typeof token === 'string' && token.length >= 32) this.#token = token
    const formats = config['permitted_image_formats']
    this.#settings = {
      node,
      heartbeatTimeout: Number(config['heartbeat_timeout'] ?? 300) * 1000,
      md5: config['agent_md5_checksum_enable'] === true,
      permittedFormats: Array.isArray(formats) ? formats.map(String) : ['raw', 'qcow2', 'gpt', 'iso'],
      tlsMinVersion: typeof config['tls_min_version'] === 'string' ? config['tls_min_version'] : null,
    }
    machine.say(`agent: is node ${String(node['uuid'])}`)
    return true
  }

  async #serve(): Promise<void> {
    const { machine, host, faults } = this.#parts
    const identity = faults.plainHttp === true ? null : await makeIdentity(machine.identity.name, host)
    this.#signal.throwIfAborted()
    this.#serving = new AbortController()
    const ended = AbortSignal.any([this.#signal, this.#serving.signal])
    const commands = new CommandRunner(
      agentCommands({
        machine,
        http: this.#parts.http,
        signal: this.#signal,
        directory: this.#parts.directory,
        extraSteps: this.#parts.extraSteps,
        settings: () => this.#known(),
        refresh: () => this.#refresh(),
        stopServing: () => setTimeout(() => this.#serving.abort(), 100).unref(),
      }),
      () => {
        this.#forced = true
        this.#wake()
      },
    )
    const server = await startAgentServer({
      host,
      identity,
      minVersion: this.#known().tlsMinVersion === '1.2' ? 'TLSv1.2' : ('TLSv1.3' satisfies SecureVersion),
      commands,
      startedAt: new Date(),
      version: agentVersion,
      checkToken: (token) => token !== null && token === this.#token,
      fault: (method, command) => takeFault(faults, method, command),
    })
    machine.say(`agent: listens on ${host}:${server.port}`)
    try {
      await this.#heartbeats(server.port, identity, ended)
    } catch (error) {
      if (!ended.aborted) throw error
    } finally {
      await server.close()
      await commands.idle()
    }
  }

  #known(): AgentSettings {
    if (this.#settings === undefined) throw new Error('the agent does not know its node yet')
    return this.#settings
  }

  async #refresh(): Promise<void> {
    const uuid = String(this.#known().node['uuid'])
    const answer = await this.#tried(() => this.#api.lookup([this.#parts.machine.identity.mac], uuid, this.#signal))
    if (answer?.status === 200) this.#learn(answer.body)
  }

  /** The first at once, then at 0.3 to 0.6 of the time-out; sooner after a command, after a refusal a little later. */
  async #heartbeats(port: number, identity: Identity | null, ended: AbortSignal): Promise<void> {
    const { machine, faults } = this.#parts
    const pause = machine.timings.heartbeatPause
    for (;;) {
      const sent = Date.now()
      this.#forced = false
      let interval = this.#known().heartbeatTimeout * (0.3 + 0.3 * Math.random())
      if (faults.mute !== true && !(await this.#heartbeat(port, identity, ended)))
        interval = pause * (1 + Math.random())
      await this.#pause(sent, interval, pause, ended)
    }
  }

  /** Waits for the interval, or for the least pause when a command has ended meanwhile. */
  async #pause(sent: number, interval: number, least: number, ended: AbortSignal): Promise<void> {
    for (;;) {
      const due = sent + (this.#forced ? Math.min(least, interval) : interval)
      const left = due - Date.now()
      if (left <= 0) return
      const woken = new AbortController()
      this.#wake = () => woken.abort()
      try {
        await sleep(left, undefined, { signal: AbortSignal.any([ended, woken.signal]) })
      } catch (error) {
        if (ended.aborted) throw error
      }
    }
  }

  async #heartbeat(port: number, identity: Identity | null, ended: AbortSignal): Promise<boolean> {
    const { machine, host, faults } = this.#parts
    const foreign = faults.foreignCertificate === true ? await makeIdentity('someone else', host) : identity
    const body = {
      callback_url: `${identity === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      agent_token: faults.wrongToken === true ? randomBytes(32).toString('base64url') : this.#token,
      agent_version: agentVersion,
      ...(foreign === null ? {} : { agent_verify_ca: foreign.cert }),
    }
    const uuid = String(this.#known().node['uuid'])
    const answer = await this.#tried(() => this.#api.heartbeat(uuid, body, ended))
    if (answer?.status === 202) return true
    if (answer !== null) machine.say(`agent: heartbeat refused: ${answer.status} ${sentenceOf(answer)}`)
    return false
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
