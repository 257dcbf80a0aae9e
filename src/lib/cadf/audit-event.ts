/** Audit events of API requests: DMTF CADF (DSP0262), with the members that keystonemiddleware's audit filter gives them. */
import { randomUUID } from 'node:crypto'
import type { CatalogService } from '../keystone-auth/token.ts'
import type { AuditMap } from './audit-map.ts'

export interface AuditedRequest {
  readonly method: string
  /** without the query */
  readonly path: string
  readonly query: string
  /** host and port that the client named */
  readonly host: string
  readonly client: string | undefined
  readonly agent: string | undefined
  readonly requestId: string
  readonly globalRequestId: string | null
  /** null: nobody in particular */
  readonly user: { readonly id: string; readonly name: string | null; readonly projectId: string | null } | null
  readonly catalog: readonly CatalogService[]
}

export type CadfEvent = Readonly<Record<string, unknown>>

const unknown = 'unknown'

/** `2026-12-01T12:48:57.538000+0000` */
const timestamp = (now: Date): string => now.toISOString().replace('Z', '000+0000')

const bare = (word: string): string => word.replace(/\.json$/, '')
const wordsOf = (path: string): string[] => path.split('/').map(bare)

const actions: Readonly<Record<string, string>> = {
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
  HEAD: 'read',
}

/** What is done, by the method and the last word of the path. */
function actionOf({ method, path }: AuditedRequest, { customActions, pathKeywords }: AuditMap): string {
  const last = wordsOf(path.replace(/\/$/, '')).at(-1) ?? ''
  const custom = customActions.get(`${last}/${method.toLowerCase()}`) ?? customActions.get(last)
  if (custom !== undefined) return custom
  if (method === 'POST') return pathKeywords.has(last) ? 'create' : 'update'
  if (method === 'GET') return pathKeywords.has(last) ? 'read/list' : 'read'
  return actions[method] ?? unknown
}

/** `service/compute/nodes/node`: the words of the path that the map knows, and the name of what stands after one. */
function typeOf(path: string, base: string, { pathKeywords }: AuditMap): string {
  let type = base
  let before = ''
  for (const word of wordsOf(path)) {
    const one = pathKeywords.get(before)
    if (pathKeywords.has(word)) type += `/${word}`
    else if (one !== undefined) type += `/${one}`
    before = word
  }
  return type
}

interface Place {
  readonly type: string
  readonly name: string | null
  readonly urls: Readonly<Record<string, string>>
}

const hostOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : undefined

/** The service that was asked: by the address in the request, else the one that the map names. */
function placeOf(request: AuditedRequest, map: AuditMap): Place | undefined {
  const places = request.catalog.flatMap(({ type, name, endpoints }): Place[] => {
    // of a service in several regions the first counts
    const urls = endpoints
      .filter(({ region }) => region === endpoints[0]?.region)
      .map((endpoint) => [endpoint.interface, endpoint.url] as const)
    return urls.length === 0 ? [] : [{ type, name, urls: Object.fromEntries(urls) }]
  })
  const asked = request.host.includes(':')
    ? places.find(({ urls }) => [urls['admin'], urls['public']].some((url) => hostOf(url) === request.host))
    : undefined
  return asked ?? places.findLast(({ type }) => type === map.targetEndpointType)
}

function targetOf(request: AuditedRequest, map: AuditMap): CadfEvent {
  const place = placeOf(request, map)
  if (place === undefined) return { id: unknown, typeURI: unknown, name: unknown }
  const base = map.serviceEndpoints.get(place.type)
  const { admin = unknown, internal = unknown, public: open = unknown } = place.urls
  return {
    id: place.name ?? unknown,
    typeURI: base === undefined ? unknown : typeOf(request.path, base, map),
    name: place.name ?? unknown,
    addresses: [
      { url: admin, name: 'admin' },
      { url: internal, name: 'private' },
      { url: open, name: 'public' },
    ],
  }
}

const initiatorOf = ({ user, client, agent, requestId, globalRequestId }: AuditedRequest): CadfEvent => ({
  id: user?.id ?? unknown,
  typeURI: 'service/security/account/user',
  name: user?.name ?? unknown,
  credential: { token: 'xxxxxxxx', identity_status: user === null ? unknown : 'Confirmed' },
  host: {
    ...(client === undefined ? {} : { address: client }),
    ...(agent === undefined ? {} : { agent }),
  },
  ...(user === null ? { project_id: unknown } : user.projectId === null ? {} : { project_id: user.projectId }),
  request_id: requestId,
  ...(globalRequestId === null ? {} : { global_request_id: globalRequestId }),
})

/** The event of a request before it is served: `audit.http.request`. */
export function requestEvent(request: AuditedRequest, map: AuditMap, now: Date): CadfEvent {
  return {
    typeURI: 'http://schemas.dmtf.org/cloud/audit/1.0/event',
    eventType: 'activity',
    id: randomUUID(),
    eventTime: timestamp(now),
    action: actionOf(request, map),
    outcome: 'pending',
    observer: { id: 'target' },
    initiator: initiatorOf(request),
    target: targetOf(request, map),
    requestPath: request.query === '' ? request.path : `${request.path}?${request.query}`,
    tags: [`correlation_id?value=${randomUUID()}`],
  }
}

/** The same event with how it ended: `audit.http.response`. @param status null: no answer was made */
export const responseEvent = (event: CadfEvent, status: number | null, now: Date): CadfEvent => ({
  ...event,
  outcome: status === null ? unknown : status >= 200 && status < 400 ? 'success' : 'failure',
  ...(status === null ? {} : { reason: { reasonType: 'HTTP', reasonCode: String(status) } }),
  reporterchain: [{ role: 'modifier', reporterTime: timestamp(now), reporter: { id: 'target' } }],
})
