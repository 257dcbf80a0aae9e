import { randomUUID } from 'node:crypto'
import type { ServerOptions } from 'node:https'
import { Pool } from 'undici'
import { IronicError } from '../../errors/index.ts'
import type { RequestContext } from '../../domain/context.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import type { ReleaseName } from '../../objects/convert.ts'
import { contextToWire } from '../context-wire.ts'
import type { ClientOf, Contract, MethodSpec, Methods, ServiceOf, Transport } from '../contract.ts'
import { dispatcher } from '../dispatcher.ts'
import { fromFailure } from '../remote-errors.ts'
import { argsToWire, resultFromWire, versionFor } from '../serializer.ts'
import { JsonRpcServer, type Admission } from './json-rpc-server.ts'
import { checkCap } from './oslo.ts'

export interface JsonRpcOptions {
  /** port of peers whose name has none, and of our own server */
  readonly port: number
  readonly timeoutSeconds: number
  /** TLS settings of the client; null: plain HTTP */
  readonly clientTls: Readonly<Record<string, unknown>> | null
  /** headers that identify this service to its peers */
  readonly credentials: () => Promise<Readonly<Record<string, string>>>
  readonly pin?: ReleaseName
  readonly log: Logger
  readonly server: {
    readonly admit: Admission
    readonly tls: ServerOptions | null
    readonly listen:
      | { readonly host: string; readonly port: number }
      | { readonly path: string; readonly mode: number | null }
    readonly maxDepth: number
    readonly maxBody: number
  }
}

/** Real peers close a connection that was idle for 10 s. */
const idleMs = 5000
const mostAnswer = 64 * 1024 * 1024

/** `h1`, `127.0.0.1:6620`, `[::1]:6641` or a bare IPv6 address to what stands in a URL. */
export function peerAddress(host: string, port: number): string {
  if (/^\[.*\](:\d+)?$/.test(host)) return /\]:\d+$/.test(host) ? host : `${host}:${port}`
  if ((host.match(/:/g) ?? []).length > 1) return `[${host}]:${port}`
  return host.includes(':') ? host : `${host}:${port}`
}

/** The name that a conductor has in the database: with its port, unless that is the stock one. */
export function registeredName(host: string, port: number): string {
  if (port === 8089) return host
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

interface Reply {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly class?: string } }
}

/** `rpc_transport = json-rpc`: a POST per call, straight to the conductor. */
export class JsonRpcTransport implements Transport, AsyncDisposable {
  private readonly options: JsonRpcOptions
  private readonly pools = new Map<string, Pool>()

  constructor(options: JsonRpcOptions) {
    this.options = options
  }

  client<M extends Methods>(contract: Contract<M>, host: string | null): ClientOf<Contract<M>> {
    if (host === null) throw new IronicError('JSON-RPC has no shared topic: a call must name its host.')
    const methods = Object.entries(contract.methods).map(([name, spec]) => [
      name,
      (context: RequestContext, args: Record<string, unknown>) => this.send(host, name, spec, context, args),
    ])
    return Object.fromEntries(methods) as ClientOf<Contract<M>>
  }

  private poolOf(host: string): Pool {
    const { clientTls, port, timeoutSeconds } = this.options
    const origin = `${clientTls === null ? 'http' : 'https'}://${peerAddress(host, port)}`
    let pool = this.pools.get(origin)
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: 64,
        keepAliveTimeout: idleMs,
        keepAliveMaxTimeout: idleMs,
        headersTimeout: timeoutSeconds * 1000,
        bodyTimeout: timeoutSeconds * 1000,
        connect: { timeout: Math.min(timeoutSeconds * 1000, 30_000), ...clientTls },
      })
      this.pools.set(origin, pool)
    }
    return pool
  }

  private async send(
    host: string,
    method: string,
    spec: MethodSpec,
    context: RequestContext,
    args: Record<string, unknown>,
  ): Promise<unknown> {
    const { pin, timeoutSeconds } = this.options
    const wire = argsToWire(spec, args, pin)
    const version = versionFor(spec, wire)
    checkCap(version, pin, method)
    const params = { ...wire, context: contextToWire(context), 'rpc.version': version }
    const id = spec.kind === 'cast' ? {} : { id: context.request_id || randomUUID() }
    const body = JSON.stringify({ jsonrpc: '2.0', method, params, ...id })
    const reply = await this.post(host, method, body, AbortSignal.timeout(timeoutSeconds * 1000))
    if (reply === null) return undefined
    if (reply.error !== undefined) throw failureOf(reply.error, method)
    if (!('result' in reply)) throw new IronicError(`${host} answered ${method} with neither a result nor an error.`)
    return resultFromWire(spec, reply.result)
  }

  /** Never sent twice: whether a call that got no answer was run is not known. */
  private async post(host: string, method: string, body: string, signal: AbortSignal): Promise<Reply | null> {
    const headers = { 'content-type': 'application/json', accept: '*/*', ...(await this.options.credentials()) }
    let status: number
    let text: string
    try {
      const response = await this.poolOf(host).request({ method: 'POST', path: '/', headers, body, signal })
      status = response.statusCode
      if (Number(response.headers['content-length'] ?? 0) > mostAnswer) throw new Error('the answer is too large')
      text = await response.body.text()
    } catch (cause) {
      const reason = signal.aborted ? `no answer within ${this.options.timeoutSeconds} s` : (cause as Error).message
      throw new IronicError(`The conductor ${host} could not be asked to ${method}: ${reason}.`, { cause })
    }
    if (status === 204) return null
    if (status === 401 || status === 403)
      throw new IronicError(`The conductor ${host} refused the credentials of [json_rpc] with ${status}.`)
    try {
      return JSON.parse(text) as Reply
    } catch (cause) {
      throw new IronicError(`The conductor ${host} answered ${method} with ${status} and no JSON.`, { cause })
    }
  }

  async serve<M extends Methods>(
    contract: Contract<M>,
    _host: string,
    service: ServiceOf<Contract<M>>,
  ): Promise<AsyncDisposable> {
    const { log, pin, server } = this.options
    const own = new JsonRpcServer({ calls: dispatcher(contract, service, pin), log, ...server })
    await own.listen()
    return own
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.close()))
  }
}

function failureOf(error: NonNullable<Reply['error']>, method: string): Error {
  const path = error.data?.class
  if (path === undefined) return new IronicError(`Unexpected error raised by RPC method ${method}: ${error.message}`)
  const dot = path.lastIndexOf('.')
  return fromFailure({
    module: path.slice(0, dot),
    class: path.slice(dot + 1),
    message: error.message,
    code: error.code,
  })
}
