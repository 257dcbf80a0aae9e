import { randomUUID } from 'node:crypto'
import { createServer as createHttp } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from '../listen.ts'
import type { Listening } from '../listen.ts'
import type { Machine } from '../machine.ts'
import * as changes from './changes.ts'
import type { Body } from './changes.ts'
import { FaultTable } from './faults.ts'
import type { FaultRule } from './faults.ts'
import { redfishError } from './message.ts'
import type { BmcAnswer } from './message.ts'
import type { BmcProfile } from './profile.ts'
import { resourceAt } from './resources.ts'
import type { ResourceParts } from './resources.ts'
import { BmcSessions } from './sessions.ts'
import type { BmcTask } from './service.ts'
import { systemPath } from './system.ts'

const root = '/redfish/v1'
/** Most bytes of a request. */
const bodyLimit = 1024 * 1024

export interface BmcOptions {
  readonly machines: readonly Machine[]
  readonly profile: BmcProfile
  /** password by user; empty: nobody is asked */
  readonly accounts: Readonly<Record<string, string>>
  readonly host: string
  /** 0: any that is free */
  readonly port: number
  /** PEM; plain HTTP when left out */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** One request as the BMC saw it, for tests. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly status: number | null
}

/** A BMC: a Redfish service (DSP0266) on a socket of its own, in front of one machine or several. */
export class Bmc {
  readonly machines: readonly Machine[]
  readonly profile: BmcProfile
  readonly sessions: BmcSessions
  readonly faults = new FaultTable()
  /** the requests of late, oldest first */
  readonly requests: SeenRequest[] = []
  readonly #uuid = randomUUID()
  readonly #tasks = new Map<string, BmcTask>()
  readonly #options: BmcOptions
  readonly #ended = new AbortController()
  #firmware = '2.0.0'
  #listening: Listening | undefined

  constructor(options: BmcOptions) {
    this.#options = options
    this.machines = options.machines
    this.profile = options.profile
    this.sessions = new BmcSessions(new Map(Object.entries(options.accounts)), options.profile)
  }

  /** What a client is given as address: scheme, host and port. */
  get address(): string {
    if (this.#listening === undefined) throw new Error('the BMC is not started')
    return `${this.#options.tls === undefined ? 'http' : 'https'}://${this.#options.host}:${this.#listening.port}`
  }

  async start(): Promise<void> {
    const { tls, host, port } = this.#options
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error: unknown) =>
        response.destroy(error instanceof Error ? error : undefined),
      )
    }
    const server: Server = tls === undefined ? createHttp(onRequest) : createHttps(tls, onRequest)
    this.#listening = await listen(server, host, port)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#listening?.close()
    this.#listening = undefined
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const path = request.url ?? '/'
    const text = await readBody(request)
    const rule = this.faults.match(method, path)
    if (rule !== undefined && !(await this.#misbehave(rule, response))) {
      this.#saw(method, path, typeof rule.answer === 'object' ? rule.answer.status : null)
      return
    }
    const answer = this.#answer(method, path, request, text)
    this.#saw(method, path, answer.status)
    send(response, answer)
  }

  #saw(method: string, path: string, status: number | null): void {
    this.requests.push({ method, path, status })
    if (this.requests.length > 1000) this.requests.shift()
  }

  /** Acts on a fault; true when the request goes on as usual. */
  async #misbehave(rule: FaultRule, response: ServerResponse): Promise<boolean> {
    if (rule.delay !== undefined) await sleep(rule.delay, undefined, { signal: this.#ended.signal })
    if (rule.effect === 'lose sessions') this.sessions.loseAll()
    if (rule.effect === 'refuse logins') this.sessions.refusesLogins = true
    if (rule.effect === 'allow logins') this.sessions.refusesLogins = false
    if (rule.answer === 'pass') return true
    if (rule.answer === 'reset') response.destroy()
    else if (rule.answer !== 'hang') send(response, rule.answer)
    return false
  }

  #answer(method: string, url: string, request: IncomingMessage, text: string): BmcAnswer {
    const path = (url.split('?')[0] ?? '').replace(/\/+$/, '')
    if (path === '/redfish') return { status: 200, body: { v1: `${root}/` } }
    if (path !== root && !path.startsWith(`${root}/`)) return notFound(path)
    const open = path === root || (method === 'POST' && path === `${root}/SessionService/Sessions`)
    if (!open && !this.sessions.allows(request.headers)) {
      const message = 'While accessing the resource, the service received an authorization error.'
      return redfishError(401, 'InsufficientPrivilege', message, { 'WWW-Authenticate': 'Basic realm="Redfish"' })
    }
    const parts = this.#parts()
    const resource = resourceAt(parts, path)
    if (method === 'GET' || method === 'HEAD') {
      if (resource === undefined) return notFound(path)
      const etag = resource.machine === undefined ? undefined : this.#etag(resource.machine)
      return { status: 200, headers: etag === undefined ? {} : { ETag: etag }, body: resource.body }
    }
    const body = parseBody(text)
    if (body === undefined) return redfishError(400, 'MalformedJSON', 'The request body is no JSON object.')
    if (method === 'POST') return this.#post(path, body)
    if (resource === undefined) return notFound(path)
    if (method === 'PATCH') {
      return this.#refusedByEtag(resource.machine, request.headers['if-match']) ?? this.#patch(path, body)
    }
    if (method === 'DELETE' && this.sessions.logout(path.split('/').at(-1) ?? '')) return { status: 204 }
    return redfishError(405, 'ActionNotSupported', `${method} is not supported here.`)
  }

  #parts(): ResourceParts {
    const { machines, profile } = this
    return {
      machines,
      profile,
      uuid: this.#uuid,
      firmware: this.#firmware,
      sessions: this.sessions.ids,
      tasks: this.#tasks,
    }
  }

  #etag(machine: Machine): string | undefined {
    const tag = `"${machine.revision}"`
    return this.profile.etags === 'none' ? undefined : this.profile.etags === 'weak' ? `W/${tag}` : tag
  }

  #refusedByEtag(machine: Machine | undefined, ifMatch: string | undefined): BmcAnswer | null {
    const current = machine === undefined ? undefined : this.#etag(machine)
    if (current === undefined || ifMatch === '*') return null
    if (ifMatch === undefined) {
      return this.profile.requireIfMatch
        ? redfishError(428, 'PreconditionRequired', 'The request needs If-Match.')
        : null
    }
    return ifMatch === current ? null : redfishError(412, 'PreconditionFailed', 'The ETag is not that of the resource.')
  }

  #patch(path: string, body: Body): BmcAnswer {
    const machine = changes.machineAt(this.machines, path)
    if (machine !== undefined) {
      const below = path.slice(systemPath(machine).length)
      if (below === '') return changes.patchSystem(machine, this.profile, body)
      if (below === '/Bios/Settings') return changes.patchBiosSettings(machine, body)
      if (below === '/SecureBoot') return changes.patchSecureBoot(machine, body)
    }
    return redfishError(405, 'ActionNotSupported', 'PATCH is not supported here.')
  }

  #post(path: string, body: Body): BmcAnswer {
    if (path === `${root}/SessionService/Sessions` && this.profile.sessions) return this.#login(body)
    const slot = changes.mediaSlot(this.machines, this.profile, path)
    if (slot !== undefined) {
      if (path.endsWith('/VirtualMedia.InsertMedia')) return changes.insertMedium(...slot, body)
      if (path.endsWith('/VirtualMedia.EjectMedia')) return changes.ejectMedium(...slot)
    }
    const machine = changes.machineAt(this.machines, path)
    const action = path.split('/Actions/')[1]
    if (machine !== undefined && action === 'ComputerSystem.Reset')
      return changes.resetSystem(machine, this.profile, body)
    if (machine !== undefined && action === 'Bios.ResetBios' && this.profile.bios) return changes.resetBios(machine)
    if (path === `${root}/Managers/bmc/Actions/Manager.Reset`) {
      this.sessions.loseAll()
      return { status: 204 }
    }
    if (action === 'UpdateService.SimpleUpdate' && this.profile.update) return this.#update(body)
    return notFound(path)
  }

  #login(body: Body): BmcAnswer {
    const session = this.sessions.login(String(body['UserName']), String(body['Password']))
    if (session === null) return redfishError(401, 'ResourceAtUriUnauthorized', 'The user or the password is wrong.')
    const path = `${root}/SessionService/Sessions/${session.id}`
    return {
      status: 201,
      headers: { Location: path, 'X-Auth-Token': session.token },
      body: { '@odata.id': path, '@odata.type': '#Session.v1_2_1.Session', Id: session.id, Name: 'Session' },
    }
  }

  /** An update takes three readings of its task, then the version has grown. */
  #update(body: Body): BmcAnswer {
    if (typeof body['ImageURI'] !== 'string') {
      return redfishError(400, 'ActionParameterMissing', 'The action SimpleUpdate requires the parameter ImageURI.')
    }
    const id = String(this.#tasks.size + 1)
    const task: BmcTask = { id, name: 'Firmware update', started: new Date(), state: 'Running', percent: 30 }
    this.#tasks.set(id, task)
    const timer = setTimeout(() => {
      Object.assign(task, { state: 'Completed', percent: 100 })
      const [major = '2', minor = '0'] = this.#firmware.split('.')
      this.#firmware = `${major}.${Number(minor) + 1}.0`
    }, 2000)
    timer.unref()
    this.#ended.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    const path = `${root}/TaskService/Tasks/${id}`
    return {
      status: 202,
      headers: { Location: `${root}/TaskService/TaskMonitors/${id}` },
      body: {
        '@odata.id': path,
        '@odata.type': '#Task.v1_4_3.Task',
        Id: id,
        Name: task.name,
        TaskState: task.state,
        TaskStatus: 'OK',
      },
    }
  }
}

const notFound = (path: string) =>
  redfishError(404, 'ResourceMissingAtURI', `The resource at the URI ${path} was not found.`)

function parseBody(text: string): Body | undefined {
  if (text === '') return {}
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Body) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyLimit) throw new Error('the request is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function send(response: ServerResponse, answer: BmcAnswer): void {
  const body = answer.body === undefined ? '' : JSON.stringify(answer.body)
  response.writeHead(answer.status, {
    'OData-Version': '4.0',
    ...(body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...(body === '' && answer.status !== 204 ? { 'Content-Length': 0 } : {}),
    ...answer.headers,
  })
  response.end(body === '' ? undefined : body)
}
