/**
 * The HTTP server. Fastify brings connections, time limits, injection and closing; what a request means is decided here, in
 * the order of real Ironic's layers: request id, authentication, limits of the body, version, route, media type, parameters, policy.
 */
import type { SecureContextOptions } from 'node:tls'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type InjectOptions } from 'fastify'
import type { RequestContext } from '../domain/context.ts'
import { BadRequest } from '../errors/base.ts'
import { IronicError } from '../errors/define.ts'
import { parseJson } from '../lib/json/exact.ts'
import { merge, parseQuery, readArguments } from './arguments.ts'
import { rejectTooNew } from './bodies.ts'
import { contextOf } from './auth/context.ts'
import type { Authenticator } from './auth/authenticator.ts'
import { isPublicRoute } from './auth/public-routes.ts'
import { discovery } from './discovery.ts'
import { acceptsJson, guardFault, handlerFault, RoutingFault, routingFault, type Fault } from './faults.ts'
import { bodyLimit, readBody } from './front/body.ts'
import { publicUrl } from './front/public-url.ts'
import {
  maximumHeader,
  MAXIMUM_MINOR,
  minimumHeader,
  MINIMUM_MINOR,
  namedVersion,
  negotiate,
  versionHeader,
  versionText,
} from './microversions.ts'
import { globalRequestId, newRequestId, parseTarget, type Target } from './request.ts'
import { reservedWords, routes } from './resources/index.ts'
import { Reply, type ApiParts, type Call, type Route } from './resource.ts'
import { extraField, Router } from './router.ts'
import { isMembers, type Members } from './values.ts'

export interface ServerParts extends ApiParts {
  readonly authenticator: Authenticator
  /** given: HTTPS only */
  readonly tls?: SecureContextOptions
}

export interface ApiServer {
  /** Resolves with the address that it listens at. */
  listen(options: { host?: string; port?: number; path?: string }): Promise<string>
  close(): Promise<void>
  inject: FastifyInstance['inject']
}

/** One request on its way: what its answer will carry, whatever happens. */
interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly requestId: string
  readonly target: Target
}

export function createApi(parts: ServerParts): ApiServer {
  const app = fastify({
    https: parts.tls ?? null,
    keepAliveTimeout: 65_000,
    requestTimeout: 300_000,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    exposeHeadRoutes: false,
  }) as unknown as FastifyInstance // the same interface with and without TLS
  const router = new Router(routes, reservedWords)
  app.addHook('onRequest', async (request, reply) => {
    const exchange = {
      request,
      reply,
      requestId: newRequestId(),
      target: parseTarget(request.raw.url ?? '/', request.headers),
    }
    const started = performance.now()
    await serve(parts, router, exchange)
    logRequest(parts, exchange, performance.now() - started)
    return reply
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
export type { InjectOptions }

function logRequest({ log }: ApiParts, { request, reply, target }: Exchange, took: number): void {
  log.info(
    `${request.ip} - ${request.method} ${target.path}${target.query === '' ? '' : `?${target.query}`} - ${reply.statusCode} (${took.toFixed(2)}ms)`,
  )
}

async function serve(parts: ServerParts, router: Router, exchange: Exchange): Promise<void> {
  const { request, reply, target } = exchange
  if (request.method === 'OPTIONS' && !target.atRoot && target.segments.length > 0) {
    // real Ironic answers these in its CORS layer, before request ids are given
    reply.code(200).send()
    return
  }
  const { headers } = request
  reply.header('x-openstack-request-id', exchange.requestId)
  reply.header('openstack-request-id', exchange.requestId)
  const isPublic = isPublicRoute(target.path)
  const verdict = isPublic ? { identity: publicIdentity } : await parts.authenticator.identify(headers, { method: request.method, path: target.path })
  if ('refusal' in verdict) {
    const { status, headers: more, body } = verdict.refusal
    for (const [name, value] of Object.entries(more)) reply.header(name, value)
    sendText(reply, status, typeof body === 'string' ? body : JSON.stringify(body))
    return
  }
  const context = contextOf(verdict.identity, {
    request_id: exchange.requestId,
    global_request_id: globalRequestId(headers),
    is_public_api: isPublic,
  })
  const body = await readBody(request.raw, bodyLimit(parts.config, target.path), parts.config.api.max_json_body_depth)
  if (typeof body === 'string') {
    const fault =
      body === 'too large'
        ? guardFault(413, 'The request body is too large. [api]max_json_body_size sets the limit.')
        : guardFault(400, 'The request body nests JSON too deeply. [api]max_json_body_depth sets the limit.')
    sendFault(reply, fault)
    return
  }
  await answer(parts, router, exchange, context, body)
}
const publicIdentity = { roles: [], is_admin_project: true }

async function answer(
  parts: ServerParts,
  router: Router,
  { request, reply, target }: Exchange,
  context: RequestContext,
  body: Buffer,
): Promise<void> {
  const { accept } = request.headers
  const showStack = parts.config.DEFAULT.debug_tracebacks_in_api
  const maximum = MAXIMUM_MINOR
  const negotiated = negotiate(namedVersion(request.headers), maximum)
  const versions = { [minimumHeader]: versionText(MINIMUM_MINOR), [maximumHeader]: versionText(maximum) }
  if ('refused' in negotiated) {
    if (negotiated.understood) reply.headers(versions)
    const fault = target.atRoot
      ? handlerFault(new IronicError(negotiated.refused, { code: 406 }))
      : routingFault(new RoutingFault(406, negotiated.refused), accept)
    sendFault(reply, fault)
    return
  }
  const { minor } = negotiated
  try {
    const url = publicUrl(parts.config, request.headers, 'encrypted' in request.raw.socket)
    if (target.segments.length === 0) {
      if (!acceptsJson(accept)) throw new RoutingFault(406, notJson)
      reply.headers({ ...versions, [versionHeader]: versionText(minor) })
      sendText(reply, 200, JSON.stringify(discovery(target.atRoot, request.method, url, minor)))
      return
    }
    let matched
    try {
      matched = router.find(request.method, target.segments, minor)
    } catch (error) {
      if (!(error instanceof RoutingFault)) reply.headers({ ...versions, [versionHeader]: versionText(minor) })
      throw error
    }
    if (!acceptsJson(accept)) throw new RoutingFault(406, notJson)
    reply.headers({ ...versions, [versionHeader]: versionText(minor) })
    const { route, params } = matched
    const input = readInput(route, target, params, body, minor)
    const call: Call = {
      api: parts,
      context,
      minor,
      params,
      args: input.args as Call['args'],
      body: input.body as undefined,
      url,
      method: request.method,
      jsonSuffix: target.jsonSuffix,
    }
    if (!route.asksItself) for (const rule of route.policies) parts.policy.authorize(context, rule)
    send(reply, route, await route.handler(call))
  } catch (error) {
    if (error instanceof RoutingFault) {
      for (const name of [versionHeader, minimumHeader, maximumHeader]) reply.removeHeader(name)
      reply.headers(error.headers)
      sendFault(reply, routingFault(error, accept))
      return
    }
    if (!(error instanceof IronicError)) {
      parts.log.error(`${request.method} ${target.path} failed: ${String(error)}`, { error })
    } else if (error.code >= 500) parts.log.error(`${request.method} ${target.path}: ${error.message}`, { error })
    sendFault(reply, handlerFault(error, showStack))
  }
}
const notJson = 'Answers are application/json, which the Accept header of this request excludes.'

function readInput(
  route: Route,
  target: Target,
  params: Record<string, string>,
  body: Buffer,
  minor: number,
): { args: Members; body: unknown } {
  let given = parseQuery(target.query)
  const extra = params[extraField]
  if (extra !== undefined) given = { ...given, fields: extra }
  if (route.method === 'GET') return { args: readArguments(route, given, minor), body: undefined }
  const sent = body.length === 0 ? undefined : parsed(body)
  if (route.body !== undefined) {
    const args = readArguments(route, given, minor)
    const read = route.body.read('body', sent === undefined ? {} : sent)
    if (route.fields !== undefined) rejectTooNew(route.fields, read as Members, minor)
    return { args, body: read }
  }
  if (sent !== undefined && sent !== null && !isMembers(sent)) {
    throw new BadRequest('The request body must be a JSON object.')
  }
  return { args: readArguments(route, merge(given, sent ?? {}), minor), body: sent }
}

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new BadRequest('The request body is not valid JSON.', { cause })
  }
}

function send(reply: FastifyReply, route: Route, result: unknown): void {
  const answered = result instanceof Reply ? result : undefined
  const status = answered?.status ?? route.status
  reply.code(status)
  if (answered?.location !== undefined) reply.header('location', answered.location)
  const text = answered === undefined ? (result === undefined ? undefined : JSON.stringify(result)) : answered.text
  if (status === 204 || text === undefined) {
    reply.send()
    return
  }
  reply.header('content-type', answered?.contentType ?? 'application/json')
  reply.send(bytes(text))
}

function sendText(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).header('content-type', 'application/json').send(bytes(text))
}
const sendFault = (reply: FastifyReply, fault: Fault): void => sendText(reply, fault.status, fault.body)

/** Bytes, so that no charset is added to the content type. */
const bytes = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text)
