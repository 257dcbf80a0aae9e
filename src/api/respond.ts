/**
 * What a request means, in the order of real Ironic's layers: CORS, request id, health, authentication, limits of the body,
 * version, route, media type, parameters, policy, handler. The result is a plain answer; `server.ts` sends it.
 */
import type { IncomingMessage } from 'node:http'
import type { RequestContext } from '../domain/context.ts'
import { BadRequest } from '../errors/base.ts'
import { IronicError } from '../errors/define.ts'
import { parseJson } from '../lib/json/exact.ts'
import { merge, parseQuery, readArguments } from './arguments.ts'
import type { Audit } from './audit.ts'
import type { Authenticator, Verdict } from './auth/authenticator.ts'
import { contextOf } from './auth/context.ts'
import { isPublicRoute } from './auth/public-routes.ts'
import { rejectTooNew } from './bodies.ts'
import type { OpenApiEndpoint } from './describe/endpoint.ts'
import { discovery } from './discovery.ts'
import { acceptsJson, guardFault, handlerFault, RoutingFault, routingFault, type Fault } from './faults.ts'
import { bodyLimit, readBody } from './front/body.ts'
import { corsHeaders, preflightHeaders } from './front/cors.ts'
import { healthAnswer } from './front/healthcheck.ts'
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
import { globalRequestId, newRequestId, type Target } from './request.ts'
import { Reply, type ApiParts, type Call, type Route } from './resource.ts'
import { extraField, type Router } from './router.ts'
import { isMembers, type Members } from './values.ts'

export interface RespondParts extends ApiParts {
  readonly authenticator: Authenticator
  /** told of every request that passed authentication */
  readonly audit?: Audit
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
  /** who asked, once that is known: for the log */
  readonly context?: RequestContext
}

type Headers = Record<string, string>
const json = 'application/json'

/** What is made of the declared routes. */
export interface Routed {
  readonly router: Router
  readonly document: OpenApiEndpoint
}

export async function respond(
  parts: RespondParts,
  { router, document }: Routed,
  raw: IncomingMessage,
  target: Target,
): Promise<Answer> {
  const { config } = parts
  const { headers } = raw
  const method = raw.method ?? 'GET'
  if (method === 'OPTIONS' && !target.atRoot) {
    // answered in the CORS layer, before request ids are given
    return { status: 200, headers: preflightHeaders(config, headers), body: undefined }
  }
  const requestId = newRequestId()
  const common: Headers = {
    'x-openstack-request-id': requestId,
    'openstack-request-id': requestId,
    ...corsHeaders(config, headers),
  }
  const health = healthAnswer(config, { path: target.path, method, headers, address: raw.socket.remoteAddress })
  if (health !== undefined) {
    return { status: health.status, headers: { ...common, 'content-type': health.contentType }, body: health.body }
  }
  if (document.isAsked(method, target)) return described(parts, document, raw, target, common)
  const isPublic = isPublicRoute(target.path)
  const verdict = isPublic ? stranger : await parts.authenticator.identify(headers, { method, path: target.path })
  if ('refusal' in verdict) {
    const { status, headers: more, body } = verdict.refusal
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return { status, headers: { ...common, 'content-type': json, ...lowerCased(more) }, body: text }
  }
  const context = contextOf(verdict.identity, {
    request_id: requestId,
    global_request_id: globalRequestId(headers),
    is_public_api: isPublic,
  })
  parts.policy.refresh()
  const ended = parts.audit?.({ raw, method, target, context, catalog: verdict.catalog ?? [] })
  let status: number | null = null
  try {
    const answered = await bounded(parts, router, { raw, method, target, context, common })
    status = answered.status
    return { ...answered, context }
  } finally {
    ended?.(status)
  }
}

function described(
  { config }: RespondParts,
  document: OpenApiEndpoint,
  raw: IncomingMessage,
  { query }: Target,
  common: Headers,
): Answer {
  try {
    const body = document.text(query, urlOf(config, raw))
    return { status: 200, headers: { ...common, 'content-type': json }, body }
  } catch (error) {
    return faulty(common, handlerFault(error))
  }
}

const urlOf = (config: RespondParts['config'], raw: IncomingMessage): string =>
  publicUrl(config, raw.headers, 'encrypted' in raw.socket)

/** Reads the body within its limits, then answers. */
async function bounded(parts: RespondParts, router: Router, request: Omit<Request, 'body'>): Promise<Answer> {
  const { raw, target, common } = request
  const { config } = parts
  const body = await readBody(raw, bodyLimit(config, target.path), config.api.max_json_body_depth)
  if (typeof body === 'string') return faulty(common, body === 'too large' ? tooLarge : tooDeep)
  return await answer(parts, router, { ...request, body })
}

const stranger: Verdict = { identity: { roles: [], is_admin_project: true } }
const lowerCased = (headers: Readonly<Headers>): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
const tooLarge = guardFault(413, 'The request body is too large; [api]max_json_body_size sets the limit.')
const tooDeep = guardFault(400, 'The request body nests JSON too deeply; [api]max_json_body_depth sets the limit.')

const faulty = (headers: Headers, { status, body }: Fault): Answer => ({
  status,
  headers: { ...headers, 'content-type': json },
  body,
})

interface Request {
  readonly raw: IncomingMessage
  readonly method: string
  readonly target: Target
  readonly context: RequestContext
  readonly body: Buffer
  readonly common: Headers
}

async function answer(parts: RespondParts, router: Router, request: Request): Promise<Answer> {
  const { raw, target, common } = request
  const { accept } = raw.headers
  const negotiated = negotiate(namedVersion(raw.headers), MAXIMUM_MINOR)
  if ('refused' in negotiated) {
    const fault = target.atRoot
      ? handlerFault(new IronicError(negotiated.refused, { code: 406 }))
      : routingFault(new RoutingFault(406, negotiated.refused), accept)
    return faulty(negotiated.understood ? { ...common, ...range } : common, fault)
  }
  const { minor } = negotiated
  try {
    return await dispatch(parts, router, request, minor)
  } catch (error) {
    if (error instanceof RoutingFault) return faulty({ ...common, ...error.headers }, routingFault(error, accept))
    if (!(error instanceof IronicError)) {
      parts.log.error(`${request.method} ${target.path} failed: ${String(error)}`, { error })
    } else if (error.code >= 500) parts.log.error(`${request.method} ${target.path}: ${error.message}`, { error })
    return faulty(versioned(common, minor), handlerFault(error, parts.config.DEFAULT.debug_tracebacks_in_api))
  }
}

const range: Headers = { [minimumHeader]: versionText(MINIMUM_MINOR), [maximumHeader]: versionText(MAXIMUM_MINOR) }
const versioned = (headers: Headers, minor: number): Headers => ({
  ...headers,
  ...range,
  [versionHeader]: versionText(minor),
})

async function dispatch(parts: RespondParts, router: Router, request: Request, minor: number): Promise<Answer> {
  const { raw, method, target, context, body, common } = request
  const url = urlOf(parts.config, raw)
  if (target.segments.length === 0) {
    mustAcceptJson(raw.headers.accept)
    const text = JSON.stringify(discovery(target.atRoot, method, url, minor))
    return { status: 200, headers: { ...versioned(common, minor), 'content-type': json }, body: text }
  }
  const { route, params } = router.find(method, target.segments, minor)
  mustAcceptJson(raw.headers.accept)
  const input = readInput(route, target, params, body, minor)
  const call: Call = {
    api: parts,
    context,
    minor,
    params,
    args: input.args as Call['args'],
    body: input.body as undefined,
    url,
    method,
    jsonSuffix: target.jsonSuffix,
  }
  if (!route.asksItself) for (const rule of route.policies) parts.policy.authorize(context, rule)
  return answerOf(route, await route.handler(call), versioned(common, minor))
}

function mustAcceptJson(accept: string | undefined): void {
  if (acceptsJson(accept)) return
  throw new RoutingFault(406, 'Answers are application/json, which the Accept header of this request excludes.')
}

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

function answerOf(route: Route, result: unknown, headers: Headers): Answer {
  const reply = result instanceof Reply ? result : undefined
  const status = reply?.status ?? route.status
  if (reply?.location !== undefined) headers['location'] = encodeURI(decodedUri(reply.location))
  const body = reply === undefined ? (result === undefined ? undefined : JSON.stringify(result)) : reply.text
  if (status === 204 || body === undefined) return { status, headers, body: undefined }
  headers['content-type'] = reply?.contentType ?? json
  return { status, headers, body }
}

/** A URL as it was before anything in it was escaped, so that it is escaped once. */
const decodedUri = (url: string): string => {
  try {
    return decodeURI(url)
  } catch {
    return url
  }
}
