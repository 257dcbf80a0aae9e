/**
 * The HTTP server. Fastify brings connections, time limits, injection and closing; what a request means is decided in
 * `respond.ts`, for every method and path alike.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import fastify, { type ConnectionError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { IronicError } from '../errors/define.ts'
import { maskText, mayHoldSecret } from '../lib/secrets/mask.ts'
import { OpenApiEndpoint } from './describe/endpoint.ts'
import { handlerFault } from './faults.ts'
import { parseTarget, type Target } from './request.ts'
import { reservedWords, routes } from './resources/index.ts'
import type { ApiParts } from './resource.ts'
import { respond, type Answer, type RespondParts } from './respond.ts'
import { Router } from './router.ts'

export interface ServerParts extends RespondParts {
  /** given: HTTPS only */
  readonly tls?: SecureContextOptions
}

export interface ApiServer {
  /** Resolves with the address that it listens at. */
  listen(options: { host?: string; port?: number; path?: string }): Promise<string>
  /** Takes no more connections and lets the running requests end. */
  close(): Promise<void>
  inject: FastifyInstance['inject']
}

export function createApi(parts: ServerParts): ApiServer {
  const app = fastify({
    https: parts.tls ?? null,
    keepAliveTimeout: 65_000,
    requestTimeout: 300_000,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    exposeHeadRoutes: false,
    clientErrorHandler: refuseConnection,
  }) as unknown as FastifyInstance // the same interface with and without TLS
  const routed = { router: new Router(routes, reservedWords), document: new OpenApiEndpoint(routes) }
  app.addHook('onRequest', async (request, reply) => {
    const started = performance.now()
    const target = parseTarget(request.raw.url ?? '/', request.headers)
    const answer = await respond(parts, routed, request.raw, target).catch((error: unknown) => unexpected(parts, error))
    reply.hijack()
    send(reply.raw, answer)
    logRequest(parts, request, target, answer, performance.now() - started)
  })
  // never reached: every request is answered above
  app.setNotFoundHandler((_request, reply) => reply.code(404).send())
  return {
    listen: async (options) =>
      app.listen(
        options.path === undefined
          ? { host: options.host ?? '127.0.0.1', port: options.port ?? 0 }
          : { path: options.path },
      ),
    close: async () => {
      await app.close()
    },
    inject: app.inject.bind(app),
  }
}

/** A failure before anything could be decided: the client went away, or a part in front of the routes is broken. */
function unexpected({ log }: ApiParts, error: unknown): Answer {
  log.error(`A request could not be answered: ${String(error)}`, { error })
  const { status, body } = handlerFault(error)
  return { status, headers: { 'content-type': 'application/json' }, body }
}

const unreadable: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** For what is not HTTP, too long or too slow: an answer as far as that goes, then the connection ends. */
function refuseConnection(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = unreadable[error.code] ?? '400 Bad Request'
  if (!socket.writable) return void socket.destroy()
  const { body } = handlerFault(
    new IronicError('This is no HTTP request that can be read.', { code: Number(status.slice(0, 3)) }),
  )
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function send(raw: ServerResponse, { status, headers, body }: Answer): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  raw.writeHead(status, status === 204 ? headers : { ...headers, 'content-length': bytes?.length ?? 0 })
  raw.end(bytes)
}

/** Who asked for what, and how it ended; the prefix of the line names request, user and project. */
function logRequest({ log }: ApiParts, request: FastifyRequest, target: Target, answer: Answer, took: number): void {
  const { context, status } = answer
  const line = context === undefined ? log : log.named('ironic.api', context)
  const query = target.query === '' ? '' : `?${mayHoldSecret(target.query) ? maskText(target.query) : target.query}`
  line.info(
    `${request.raw.socket.remoteAddress ?? '-'} - ${request.method} ${target.path}${query} - ${status} (${took.toFixed(2)}ms)`,
  )
}
