import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import { chmod, rm } from 'node:fs/promises'
import { NestingMeter, parseJson } from '../../lib/json/exact.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { Dispatcher, NoSuchMethod, WrongArguments } from '../dispatcher.ts'
import { toFailure } from '../remote-errors.ts'

/** What stands in front of the service: null lets the request in. */
export type Admission = (
  headers: IncomingHttpHeaders,
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: unknown } | null>

export interface JsonRpcServerOptions {
  readonly calls: Dispatcher
  readonly admit: Admission
  readonly log: Logger
  /** `[api]max_json_body_depth`; 0: no limit */
  readonly maxDepth: number
  /** octets */
  readonly maxBody: number
  /** null: plain HTTP */
  readonly tls: ServerOptions | null
  readonly listen:
    | { readonly host: string; readonly port: number }
    | { readonly path: string; readonly mode: number | null }
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: { readonly class: string }
}

const codes = { parse: -32700, invalid: -32600, unknown: -32601, params: -32602 } as const

class BadBody extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The body, measured as it comes in. @throws BadBody when it is too deep or too large */
async function readBody(request: IncomingMessage, maxDepth: number, maxBody: number): Promise<string> {
  const meter = new NestingMeter()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    meter.read(chunk)
    if (size > maxBody) throw new BadBody(413, `The body is larger than ${maxBody} octets.`)
    if (maxDepth > 0 && meter.deepest > maxDepth)
      throw new BadBody(400, `The body is nested deeper than ${maxDepth} levels.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** A service over JSON-RPC 2.0: one POST per call, on any path. */
export class JsonRpcServer implements AsyncDisposable {
  private readonly options: JsonRpcServerOptions
  private readonly server: Server
  private readonly running = new Set<Promise<void>>()

  constructor(options: JsonRpcServerOptions) {
    this.options = options
    const take = (request: IncomingMessage, response: ServerResponse) => {
      const work: Promise<void> = this.handle(request, response).finally(() => this.running.delete(work))
      this.running.add(work)
    }
    this.server = options.tls === null ? createHttpServer(take) : createHttpsServer(options.tls, take)
    // real peers close after 10 s of silence; a client must not write into that very moment
    this.server.keepAliveTimeout = 75_000
    this.server.requestTimeout = 120_000
  }

  /** Starts listening. @returns the port; 0 on a unix socket. @throws when the address is taken */
  async listen(): Promise<number> {
    const { listen } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.server.once('error', reject)
    if ('path' in listen) {
      await rm(listen.path, { force: true })
      this.server.listen(listen.path, resolve)
    } else this.server.listen(listen.port, listen.host, resolve)
    await promise
    this.server.off('error', reject)
    if ('path' in listen) {
      if (listen.mode !== null) await chmod(listen.path, listen.mode)
      return 0
    }
    const address = this.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refusal = await this.options.admit(request.headers)
      if (refusal !== null) return answer(response, refusal.status, refusal.body, refusal.headers)
      if (request.method !== 'POST')
        return answer(response, 405, { error: { code: 405, message: 'Only POST method can be used' } })
      const body = await readBody(request, this.options.maxDepth, this.options.maxBody)
      const reply = await this.reply(body)
      if (reply !== null) return answer(response, 200, reply)
      response.writeHead(204, { 'content-type': 'text/html; charset=UTF-8' }).end()
    } catch (error) {
      if (error instanceof BadBody)
        return answer(
          response,
          error.status,
          { faultcode: 'Client', faultstring: error.message },
          { connection: 'close' },
        )
      this.options.log.error('A JSON-RPC request could not be answered', { error })
      response.destroy()
    }
  }

  /** The answer; null for a cast. */
  private async reply(text: string): Promise<Record<string, unknown> | null> {
    const refuse = (code: number, message: string, id: unknown = null) => ({
      jsonrpc: '2.0',
      id,
      error: { code, message },
    })
    let body: unknown
    try {
      body = parseJson(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return refuse(codes.parse, 'The body is not JSON')
    }
    if (!isObject(body)) return refuse(codes.invalid, 'The body must be one JSON-RPC request')
    const { jsonrpc, method, params = {}, id = null } = body
    if (jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params))
      return refuse(codes.invalid, 'jsonrpc must be "2.0", method a text and params an object', id)
    const outcome = await this.call(method, params)
    if (id === null) return null
    return 'error' in outcome
      ? { jsonrpc: '2.0', id, error: outcome.error }
      : { jsonrpc: '2.0', result: outcome.result, id }
  }

  private async call(
    method: string,
    params: Record<string, unknown>,
  ): Promise<{ result: unknown } | { error: RpcError }> {
    const { context, 'rpc.version': _version, ...args } = params
    if (!isObject(context)) return { error: { code: codes.params, message: 'params.context must be an object' } }
    try {
      return { result: await this.options.calls.run({ method, args, context }) }
    } catch (error) {
      if (error instanceof NoSuchMethod)
        return { error: { code: codes.unknown, message: `Method ${method} was not found` } }
      if (error instanceof WrongArguments) return { error: { code: codes.params, message: error.message } }
      const failure = toFailure(error, method, this.options.log)
      const data =
        failure.module === 'ironic.common.exception' ? { data: { class: `${failure.module}.${failure.class}` } } : {}
      return { error: { code: failure.code ?? 500, message: failure.message, ...data } }
    }
  }

  /** Takes no more requests; running ones are answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.server.close(() => resolve())
    this.server.closeIdleConnections()
    await Promise.all(this.running)
    this.server.closeAllConnections()
    await promise
    if ('path' in this.options.listen) await rm(this.options.listen.path, { force: true })
  }
}
