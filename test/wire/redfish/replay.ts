import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'

type Json = Record<string, unknown>

interface Entry {
  readonly from?: string
  readonly to?: string
  readonly method?: string
  readonly path?: string
  readonly request_body?: Json
  readonly request_headers?: Json
  readonly status?: number | null
  readonly response_headers?: Record<string, string>
  readonly response_body?: Json
  readonly note?: string
}

/** One request of a user, and what real Ironic said to the BMC because of it. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly body: Json
  readonly status: number
  readonly answer: unknown
  readonly exchanges: readonly Entry[]
}

const folder = new URL('recordings/', import.meta.url)
/** Placeholders stand where a path goes through our encoding. */
const load = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`${name}.json`, folder), 'utf8').replace(
      /\{uuid_(\d)\}/g,
      '00000000-0000-4000-8000-00000000000$1',
    ),
  ) as Json
const fullBodies = load('bmc-resources') as Record<string, Record<string, Json>>

export function operationsOf(name: string): Operation[] {
  const { entries } = load(name) as unknown as { entries: readonly Entry[] }
  const operations: (Operation & { exchanges: Entry[] })[] = []
  for (const entry of entries) {
    if (entry.from === 'client')
      operations.push({
        method: entry.method!,
        path: entry.path!,
        body: entry.request_body ?? {},
        status: entry.status!,
        answer: entry.response_body,
        exchanges: [],
      })
    else if (entry.from === 'conductor') operations.at(-1)?.exchanges.push(entry)
  }
  return operations
}

const isLogin = (entry: Pick<Entry, 'method' | 'path'>) => entry.method !== 'GET' && entry.path!.includes('/Sessions')

const isRoot = (path: string) => path.replace(/\/$/, '') === '/redfish/v1'

/** Real Ironic had logged in before most recordings began; we do so in each. */
const firstContact = ({ method, path }: { method: string; path: string }): Entry =>
  method === 'GET'
    ? { method, path, to: 'bmc2', status: 200, response_body: { __trimmed__: true } }
    : { method, path, status: 201, response_headers: { 'X-Auth-Token': 'new', Location: `${path}/1` } }

/** The body as it was: recordings leave out what a resource always says. */
function bodyOf(entry: Entry): Json | undefined {
  const body = entry.response_body
  if (body === undefined) return undefined
  const { __trimmed__: trimmed, ...told } = body
  const full = trimmed === undefined ? {} : (fullBodies[entry.to!]?.[entry.path!.replace(/(.)\/$/, '$1')] ?? {})
  const boot = { ...(full['Boot'] as Json | undefined), ...(told['Boot'] as Json | undefined) }
  return { ...full, ...told, ...(Object.keys(boot).length > 0 && { Boot: boot }) }
}

/** A BMC that answers as it did when real Ironic spoke to it, and notes what is said beside that. */
export class ReplayedBmc {
  readonly address: string
  /** what real Ironic had not said */
  readonly strange: string[] = []
  /** changes that were asked for, as in the recording */
  readonly changes: string[] = []
  reads = 0
  /** before the first operation: the system is there, as whole as ever */
  private isWarmingUp = true
  private exchanges: Entry[] = []
  private readonly last = new Map<string, Entry>()
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(): Promise<ReplayedBmc> {
    let bmc: ReplayedBmc | undefined
    const server = createServer((request, response) => {
      let raw = ''
      request.setEncoding('utf8').on('data', (part: string) => (raw += part))
      request.on('end', () => {
        const said = {
          method: request.method!,
          path: request.url!,
          body: raw === '' ? undefined : (JSON.parse(raw) as Json),
        }
        const entry = bmc!.find(said, request.headers['if-match'])
        if (entry === null) response.writeHead(501).end()
        else if (entry.status === null && entry.note?.includes('no answer') !== true) response.destroy()
        else if (entry.status !== null) {
          const body = bodyOf(entry)
          response.writeHead(entry.status!, { ...entry.response_headers, 'Content-Type': 'application/json' })
          response.end(body === undefined ? undefined : JSON.stringify(body))
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    bmc = new ReplayedBmc(server)
    return bmc
  }

  /** The next operation begins. Gives the changes that real Ironic made in it. */
  play(operation: Operation): string[] {
    this.isWarmingUp = false
    this.exchanges = [...operation.exchanges]
    this.changes.length = 0
    this.reads = 0
    return operation.exchanges.filter((entry) => entry.method !== 'GET' && !isLogin(entry)).map(told)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    await closed
  }

  private find(
    said: { method: string; path: string; body: Json | undefined },
    ifMatch: string | undefined,
  ): Entry | null {
    const isRead = said.method === 'GET'
    if (said.method === 'DELETE' && isLogin(said)) return { method: 'DELETE', path: said.path, status: 204 }
    const fits = (entry: Entry) =>
      entry.method === said.method &&
      entry.path!.replace(/(.)\/$/, '$1') === said.path.replace(/(.)\/$/, '$1') &&
      (isRead || isLogin(entry) || isDeepStrictEqual(entry.request_body ?? {}, said.body ?? {})) &&
      (ifMatch === undefined || entry.request_headers?.['If-Match'] === ifMatch)
    const index = this.exchanges.findIndex(fits)
    const entry = index < 0 ? undefined : this.exchanges[index]
    if (!isRead && !isLogin(said))
      this.changes.push(
        told({
          ...said,
          ...(said.body && { request_body: said.body }),
          ...(ifMatch && { request_headers: { 'If-Match': ifMatch } }),
        }),
      )
    if (entry === undefined && (isLogin(said) || isRoot(said.path))) return firstContact(said)
    if (entry === undefined && this.isWarmingUp)
      return { ...said, to: 'bmc2', path: said.path, status: 200, response_body: { __trimmed__: true } }
    if (isRead) this.reads++
    if (entry === undefined) {
      const before = isRead ? this.last.get(said.path) : undefined
      if (before === undefined) this.strange.push(`${said.method} ${said.path} ${JSON.stringify(said.body ?? null)}`)
      return before ?? null
    }
    // what was said before this is over; of readings only this one
    if (isRead) this.exchanges.splice(index, 1)
    else this.exchanges.splice(0, index + 1)
    this.last.set(said.path, entry)
    return entry
  }
}

const told = (entry: Entry): string =>
  `${entry.method} ${entry.path} ${JSON.stringify(entry.request_body ?? null)} ${JSON.stringify(entry.request_headers?.['If-Match'] ?? null)}`
