/** Cross-origin requests of browsers, as oslo.middleware answers them: origins of `[cors]allowed_origin` only. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../config/index.ts'

/** Headers that may always be sent. */
const simpleHeaders = [
  'accept',
  'accept-language',
  'content-type',
  'cache-control',
  'content-language',
  'expires',
  'last-modified',
  'pragma',
  'x-auth-token',
  'x-openstack-ironic-api-maximum-version',
  'x-openstack-ironic-api-minimum-version',
  'x-openstack-ironic-api-version',
]

const values = (header: string | string[] | undefined): string[] =>
  (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').flatMap((part) => part.trim() || [])

/** The origin to name in an answer; undefined: this one is not allowed. */
function allowedOrigin({ cors }: Config, origin: string | undefined): string | undefined {
  if (origin === undefined || cors.allowed_origin === null) return undefined
  if (cors.allowed_origin.includes(origin)) return origin
  return cors.allowed_origin.includes('*') ? '*' : undefined
}

function allowed(config: Config, headers: IncomingHttpHeaders): Record<string, string> | undefined {
  const origin = allowedOrigin(config, headers.origin)
  if (origin === undefined) return undefined
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    ...(config.cors.allow_credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  }
}

/** What an answer carries for the browser; nothing when the request came from no allowed origin. */
export function corsHeaders(config: Config, headers: IncomingHttpHeaders): Record<string, string> {
  if (headers.origin === undefined) return {}
  const basics = allowed(config, headers)
  if (basics === undefined) return {}
  const { expose_headers: exposed } = config.cors
  return { ...basics, ...(exposed.length > 0 ? { 'access-control-expose-headers': exposed.join(',') } : {}) }
}

/** The answer to a browser that asks before it sends. */
export function preflightHeaders(config: Config, headers: IncomingHttpHeaders): Record<string, string> {
  const basics = allowed(config, headers)
  const method = headers['access-control-request-method']
  if (basics === undefined || method === undefined || !config.cors.allow_methods.includes(method)) return {}
  const wanted = values(headers['access-control-request-headers'])
  const permitted = new Set([...simpleHeaders, ...config.cors.allow_headers.map((name) => name.toLowerCase())])
  if (!wanted.every((name) => permitted.has(name.toLowerCase()))) return {}
  return {
    ...basics,
    ...(config.cors.max_age ? { 'access-control-max-age': String(config.cors.max_age) } : {}),
    'access-control-allow-methods': method,
    ...(wanted.length > 0 ? { 'access-control-allow-headers': wanted.join(',') } : {}),
  }
}
