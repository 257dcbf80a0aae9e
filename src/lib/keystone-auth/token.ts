/** What a token of Keystone's v3 API says (`GET /v3/auth/tokens`). Only what a service needs is kept; catalogs are large. */

export interface NamedInDomain {
  readonly id: string
  readonly name: string
  readonly domain: { readonly id: string; readonly name: string } | null
}

export interface CatalogEndpoint {
  readonly interface: string
  readonly region: string | null
  readonly url: string
}

export interface CatalogService {
  readonly type: string
  readonly name: string | null
  readonly endpoints: readonly CatalogEndpoint[]
}

/** What an application credential is restricted to. */
export interface AccessRule {
  readonly service: string
  readonly method: string
  readonly path: string
}

export interface TokenInfo {
  readonly user: NamedInDomain
  readonly project: NamedInDomain | null
  readonly domain: { readonly id: string; readonly name: string } | null
  /** scoped to the whole system */
  readonly system: boolean
  readonly roles: readonly string[]
  readonly expiresAt: Date
  /** absent in most tokens, which then count as of the admin project */
  readonly isAdminProject: boolean
  /** null: not restricted */
  readonly accessRules: readonly AccessRule[] | null
  /** ways of binding a token to a client, such as `kerberos` */
  readonly bind: readonly string[]
  readonly catalog: readonly CatalogService[]
}

/** Keystone answered with something that is no token. */
export class MalformedToken extends Error {
  override readonly name = 'MalformedToken'
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const membersIn = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isMembers) : [])
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function text(members: Members, key: string): string {
  const value = members[key]
  if (typeof value !== 'string') throw new MalformedToken(`The token's "${key}" is missing or no text.`)
  return value
}

const domainOf = (value: unknown) => (isMembers(value) ? { id: text(value, 'id'), name: text(value, 'name') } : null)

function namedInDomain(value: Members): NamedInDomain {
  return { id: text(value, 'id'), name: text(value, 'name'), domain: domainOf(value['domain']) }
}

const serviceOf = (service: Members): CatalogService => ({
  type: text(service, 'type'),
  name: textOrNull(service['name']),
  endpoints: membersIn(service['endpoints']).map((endpoint) => ({
    interface: text(endpoint, 'interface'),
    region: textOrNull(endpoint['region_id'] ?? endpoint['region']),
    url: text(endpoint, 'url'),
  })),
})

function accessRulesOf(credential: unknown): AccessRule[] | null {
  if (!isMembers(credential) || credential['access_rules'] === undefined || credential['access_rules'] === null)
    return null
  return membersIn(credential['access_rules']).map((rule) => ({
    service: text(rule, 'service'),
    method: text(rule, 'method'),
    path: text(rule, 'path'),
  }))
}

/** Reads the body of an answer. @throws MalformedToken */
export function readToken(body: unknown): TokenInfo {
  const token = isMembers(body) ? body['token'] : undefined
  if (!isMembers(token) || !isMembers(token['user'])) throw new MalformedToken('The answer holds no token.')
  const expiresAt = new Date(text(token, 'expires_at'))
  if (Number.isNaN(expiresAt.getTime())) throw new MalformedToken('The token does not say when it expires.')
  return {
    user: namedInDomain(token['user']),
    project: isMembers(token['project']) ? namedInDomain(token['project']) : null,
    domain: domainOf(token['domain']),
    system: isMembers(token['system']) && token['system']['all'] === true,
    roles: membersIn(token['roles']).map((role) => text(role, 'name')),
    expiresAt,
    isAdminProject: token['is_admin_project'] !== false,
    accessRules: accessRulesOf(token['application_credential']),
    bind: isMembers(token['bind']) ? Object.keys(token['bind']) : [],
    catalog: membersIn(token['catalog']).map(serviceOf),
  }
}

/** Where a service is, by the token's catalog: the first of the wanted interfaces that is there. */
export function endpointIn(
  { catalog }: TokenInfo,
  wanted: { type: string; interfaces: readonly string[]; region?: string | null; name?: string | null },
): string | undefined {
  const endpoints = catalog
    .filter((service) => service.type === wanted.type && (!wanted.name || service.name === wanted.name))
    .flatMap((service) => service.endpoints)
    .filter((endpoint) => !wanted.region || endpoint.region === wanted.region)
  for (const name of wanted.interfaces) {
    const found = endpoints.find((endpoint) => endpoint.interface === name.replace(/URL$/, ''))
    if (found !== undefined) return found.url
  }
  return undefined
}
