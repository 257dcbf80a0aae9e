import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { silentLogger } from '../oslo-log/logger.ts'
import { RedfishClient, type ClientOptions, type Waiter } from './client.ts'
import { Transport, type TransportLimits } from './transport.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

export interface ScriptedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Rule {
  readonly method?: string
  readonly path?: string | RegExp
  /** how often it acts; always when left out */
  times?: number
  /** `reset` cuts the connection, `hang` never answers, a function decides (undefined: as usual) */
  readonly answer: ScriptedAnswer | 'reset' | 'hang' | ((request: SeenRequest) => ScriptedAnswer | undefined)
}

type Json = Record<string, unknown>

/** A BMC made of a tree of resources and a table of rules, on a socket of its own. */
export class ScriptedBmc {
  readonly tree: Map<string, Json>
  readonly rules: Rule[] = []
  readonly requests: SeenRequest[] = []
  /** tokens that are valid */
  readonly sessions = new Map<string, string>()
  readonly address: string
  readonly closeServer: () => Promise<void>
  logins = 0
  password = 'secret'
  revision = 1

  private constructor(server: Server, tree: Readonly<Record<string, Json>>, scheme: string) {
    this.tree = new Map(Object.entries(structuredClone(tree)))
    this.address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.closeServer = async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    }
  }

  static async start(
    tree: Readonly<Record<string, Json>> = standardTree,
    tls?: { readonly key: string; readonly cert: string; readonly maxVersion?: 'TLSv1.2' },
  ): Promise<ScriptedBmc> {
    let bmc: ScriptedBmc | undefined
    const listener: RequestListener = (request, response) => {
      bmc!.serve(request, response).catch((error: unknown) => response.destroy(error as Error))
    }
    const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    bmc = new ScriptedBmc(server, tree, tls === undefined ? 'http' : 'https')
    return bmc
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeServer()
  }

  /** Adds a rule before the others. */
  when(method: string, path: string | RegExp, answer: Rule['answer'], times?: number): void {
    this.rules.unshift({ method, path, answer, ...(times !== undefined && { times }) })
  }

  /** What was said since, as `METHOD path`. */
  get said(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`)
  }

  changes(): SeenRequest[] {
    return this.requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/Sessions'))
  }

  resource(path: string): Json {
    return this.tree.get(path)!
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const raw = Buffer.concat(parts).toString()
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: raw === '' ? undefined : (JSON.parse(raw) as unknown),
    }
    this.requests.push(seen)
    const answer = this.ruled(seen) ?? this.usual(seen)
    if (answer === 'hang') return
    if (answer === 'reset') {
      response.destroy()
      return
    }
    const body =
      answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers })
    response.end(body)
  }

  private ruled(seen: SeenRequest): ScriptedAnswer | 'reset' | 'hang' | undefined {
    for (const rule of this.rules) {
      if (rule.times === 0 || (rule.method !== undefined && rule.method !== seen.method)) continue
      if (typeof rule.path === 'string' ? rule.path !== seen.path : rule.path?.test(seen.path) === false) continue
      const answer = typeof rule.answer === 'function' ? rule.answer(seen) : rule.answer
      if (answer === undefined) continue
      if (rule.times !== undefined) rule.times--
      return answer
    }
    return undefined
  }

  private usual(seen: SeenRequest): ScriptedAnswer {
    const path = seen.path.split('?')[0]!.replace(/\/+$/, '')
    const isRoot = path === '/redfish/v1'
    if (seen.method === 'POST' && path.endsWith('/SessionService/Sessions')) return this.logIn(seen.body as Json)
    if (!isRoot && !this.allows(seen)) return error(401, 'NoValidSession', 'log in first')
    if (seen.method === 'DELETE' && path.includes('/Sessions/')) {
      const found = [...this.sessions].find(([, uri]) => uri === path)
      return found !== undefined && this.sessions.delete(found[0])
        ? { status: 204 }
        : error(404, 'ResourceMissingAtURI', path)
    }
    if (seen.method === 'GET') {
      const resource = this.tree.get(path)
      return resource === undefined
        ? error(404, 'ResourceMissingAtURI', `nothing at ${path}`)
        : { status: 200, headers: { ETag: `"${this.revision}"` }, body: resource }
    }
    if (seen.method === 'PATCH') {
      const resource = this.tree.get(path)
      if (resource === undefined) return error(404, 'ResourceMissingAtURI', path)
      merge(resource, seen.body as Json)
      this.revision++
      return { status: 204 }
    }
    return this.act(path, (seen.body ?? {}) as Json)
  }

  private act(path: string, body: Json): ScriptedAnswer {
    const [owner = '', name] = path.split('/Actions/')
    const resource = this.tree.get(owner)
    if (resource === undefined || name === undefined) return error(404, 'ResourceMissingAtURI', path)
    this.revision++
    if (name === 'ComputerSystem.Reset') {
      const off = body['ResetType'] === 'ForceOff' || body['ResetType'] === 'GracefulShutdown'
      if (body['ResetType'] !== 'Nmi') resource['PowerState'] = off ? 'Off' : 'On'
    }
    if (name === 'VirtualMedia.InsertMedia') Object.assign(resource, { Inserted: true, Image: body['Image'] })
    if (name === 'VirtualMedia.EjectMedia') Object.assign(resource, { Inserted: false, Image: null })
    return { status: 204 }
  }

  private allows({ headers }: SeenRequest): boolean {
    const token = headers['x-auth-token']
    if (typeof token === 'string') return this.sessions.has(token)
    const basic = Buffer.from(`admin:${this.password}`).toString('base64')
    return this.password === '' || headers['authorization'] === `Basic ${basic}`
  }

  private logIn(body: Json): ScriptedAnswer {
    this.logins++
    if (body['UserName'] !== 'admin' || body['Password'] !== this.password)
      return error(401, 'AccessDenied', 'wrong user or password')
    const token = `token-${this.logins}`
    const uri = `/redfish/v1/SessionService/Sessions/${this.logins}`
    this.sessions.set(token, uri)
    return { status: 201, headers: { 'X-Auth-Token': token, Location: uri }, body: { '@odata.id': uri } }
  }
}

/** An error body as DSP0266 has it. */
export const error = (status: number, name: string, message: string, more: Json = {}): ScriptedAnswer => ({
  status,
  body: {
    error: {
      code: `Base.1.12.${name}`,
      message,
      '@Message.ExtendedInfo': [{ MessageId: `Base.1.12.${name}`, Message: message, Severity: 'Critical', ...more }],
    },
  },
})

function merge(target: Json, change: Json): void {
  for (const [name, value] of Object.entries(change)) {
    const own = target[name]
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (nested && typeof own === 'object' && own !== null) merge(own as Json, value as Json)
    else target[name] = value
  }
}

const id = (path: string) => ({ '@odata.id': path })
const v1 = '/redfish/v1'

const slot = (path: string, name: string, types: string[]): Json => ({
  '@odata.id': `${path}/${name}`,
  Id: name,
  MediaTypes: types,
  Inserted: false,
  Image: null,
  Actions: {
    '#VirtualMedia.InsertMedia': { target: `${path}/${name}/Actions/VirtualMedia.InsertMedia` },
    '#VirtualMedia.EjectMedia': { target: `${path}/${name}/Actions/VirtualMedia.EjectMedia` },
  },
})

export const systemPath = `${v1}/Systems/1`
export const mediaPath = `${v1}/Managers/bmc/VirtualMedia`

/** One system, one manager with two media slots, and what belongs to them. */
export const standardTree: Readonly<Record<string, Json>> = {
  [v1]: {
    '@odata.id': `${v1}/`,
    RedfishVersion: '1.15.0',
    Systems: id(`${v1}/Systems`),
    Managers: id(`${v1}/Managers`),
    Chassis: id(`${v1}/Chassis`),
    SessionService: id(`${v1}/SessionService`),
    UpdateService: id(`${v1}/UpdateService`),
    EventService: id(`${v1}/EventService`),
    Links: { Sessions: id(`${v1}/SessionService/Sessions`) },
  },
  [`${v1}/Systems`]: { Members: [id(systemPath)] },
  [systemPath]: {
    '@odata.id': systemPath,
    '@odata.type': '#ComputerSystem.v1_20_0.ComputerSystem',
    Id: '1',
    UUID: '11111111-2222-3333-4444-555555555555',
    Manufacturer: 'Scripted',
    Model: 'S1',
    PowerState: 'Off',
    IndicatorLED: 'Off',
    Status: { Health: 'OK', State: 'Enabled' },
    Boot: {
      BootSourceOverrideTarget: 'None',
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideMode: 'UEFI',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd', 'Cd', 'BiosSetup', 'UefiHttp'],
      HttpBootUri: null,
    },
    MemorySummary: { TotalSystemMemoryGiB: 16 },
    Links: { ManagedBy: [id(`${v1}/Managers/bmc`)], Chassis: [id(`${v1}/Chassis/1`)] },
    SecureBoot: id(`${systemPath}/SecureBoot`),
    Bios: id(`${systemPath}/Bios`),
    EthernetInterfaces: id(`${systemPath}/EthernetInterfaces`),
    Processors: id(`${systemPath}/Processors`),
    Storage: id(`${systemPath}/Storage`),
    Actions: {
      '#ComputerSystem.Reset': {
        target: `${systemPath}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': [
          'On',
          'ForceOff',
          'GracefulShutdown',
          'GracefulRestart',
          'ForceRestart',
          'Nmi',
        ],
      },
    },
  },
  [`${systemPath}/SecureBoot`]: {
    Id: 'SecureBoot',
    SecureBootEnable: false,
    SecureBootCurrentBoot: 'Disabled',
    Actions: { '#SecureBoot.ResetKeys': { target: `${systemPath}/SecureBoot/Actions/SecureBoot.ResetKeys` } },
  },
  [`${systemPath}/EthernetInterfaces`]: {
    Members: [id(`${systemPath}/EthernetInterfaces/1`), id(`${systemPath}/EthernetInterfaces/2`)],
  },
  [`${systemPath}/EthernetInterfaces/1`]: {
    Id: '1',
    MACAddress: '52:54:00:AA:BB:01',
    SpeedMbps: 10000,
    Status: { State: 'Enabled', Health: 'OK' },
  },
  [`${systemPath}/EthernetInterfaces/2`]: { Id: '2', MACAddress: '52:54:00:AA:BB:02', Status: { State: 'Disabled' } },
  [`${systemPath}/Processors`]: { Members: [id(`${systemPath}/Processors/CPU1`)] },
  [`${systemPath}/Processors/CPU1`]: {
    Id: 'CPU1',
    ProcessorType: 'CPU',
    ProcessorArchitecture: 'x86',
    InstructionSet: 'x86-64',
    Model: 'Some CPU',
    TotalCores: 8,
    TotalThreads: 16,
    MaxSpeedMHz: 3000,
  },
  [`${systemPath}/Storage`]: { Members: [id(`${systemPath}/Storage/1`)] },
  [`${systemPath}/Storage/1`]: { Id: '1', Name: 'Disks', Drives: [id(`${systemPath}/Storage/1/Drives/d1`)] },
  [`${systemPath}/Storage/1/Drives/d1`]: {
    Id: 'd1',
    Name: 'Drive 1',
    Model: 'D',
    SerialNumber: 'S1',
    MediaType: 'SSD',
    CapacityBytes: 480103981056,
    IndicatorLED: 'Off',
    Status: { State: 'Enabled', Health: 'OK' },
  },
  [`${v1}/Managers`]: { Members: [id(`${v1}/Managers/bmc`)] },
  [`${v1}/Managers/bmc`]: {
    Id: 'bmc',
    Name: 'BMC',
    ManagerType: 'BMC',
    FirmwareVersion: '1.0.0',
    DateTime: '2026-01-02T03:04:05+00:00',
    DateTimeLocalOffset: '+00:00',
    VirtualMedia: id(mediaPath),
  },
  [mediaPath]: { Members: [id(`${mediaPath}/Cd`), id(`${mediaPath}/Usb`)] },
  [`${mediaPath}/Cd`]: slot(mediaPath, 'Cd', ['CD', 'DVD']),
  [`${mediaPath}/Usb`]: slot(mediaPath, 'Usb', ['USBStick', 'Floppy']),
  [`${v1}/Chassis/1`]: {
    Id: '1',
    Name: 'Chassis',
    UUID: 'c1',
    IndicatorLED: 'Off',
    Thermal: id(`${v1}/Chassis/1/Thermal`),
    Power: id(`${v1}/Chassis/1/Power`),
  },
  [`${v1}/Chassis/1/Thermal`]: {
    Id: 'Thermal',
    Fans: [
      { MemberId: 'f1', Name: 'Fan 1', Reading: 4200, ReadingUnits: 'RPM', Status: { State: 'Enabled', Health: 'OK' } },
    ],
    Temperatures: [{ MemberId: 't1', Name: 'CPU', ReadingCelsius: 41, Status: { State: 'Enabled', Health: 'OK' } }],
  },
  [`${v1}/Chassis/1/Power`]: {
    Id: 'Power',
    PowerSupplies: [
      {
        MemberId: 'p1',
        Name: 'PSU',
        PowerCapacityWatts: 750,
        SerialNumber: 'P',
        Status: { State: 'Enabled', Health: 'OK' },
      },
    ],
  },
}

/** Time that passes only by sleeping, and then at once. */
export class StoppedClock implements Waiter {
  private ms = Date.parse('2026-01-02T03:04:05.000Z')
  /** how long each sleep would have been */
  readonly slept: number[] = []
  now(): Date {
    return new Date(this.ms)
  }
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.slept.push(ms)
    this.ms += ms
    await new Promise(setImmediate)
  }
}

/** A client for a scripted BMC; closes with its transport. */
export function testClient(
  bmc: ScriptedBmc,
  options: Partial<ClientOptions> = {},
  limits: Partial<TransportLimits> = {},
): { client: RedfishClient; clock: StoppedClock; [Symbol.asyncDispose](): Promise<void> } {
  const clock = new StoppedClock()
  const transport = new Transport({ connectTimeoutMs: 2000, readTimeoutMs: 2000, ...limits })
  const client = new RedfishClient({
    address: bmc.address,
    username: 'admin',
    password: 'secret',
    authType: 'auto',
    tls: { verifyCa: true },
    transport,
    waiter: clock,
    log: silentLogger,
    ...options,
  })
  return {
    client,
    clock,
    async [Symbol.asyncDispose]() {
      await client.close()
      await transport.close()
    },
  }
}
