import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import type { Config } from '../../config/index.ts'
import { ConfigInvalid } from '../../errors/general.ts'
import { Keystone, KeystoneUnavailable, UnknownToken } from '../../lib/keystone-auth/keystone.ts'
import { IncompleteLogin, type LoginOptions } from '../../lib/keystone-auth/login.ts'
import { MalformedToken, type CatalogService, type TokenInfo } from '../../lib/keystone-auth/token.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { tlsClientOptions } from '../../lib/tls/client-options.ts'
import { accessRulesAllow } from './access-rules.ts'
import {
  headerOf,
  stranger,
  type Authenticator,
  type Identity,
  type Refusal,
  type RequestHeaders,
  type Verdict,
} from './authenticator.ts'

type Options = Config['keystone_authtoken']

/** How many tokens are remembered; each costs about a kilobyte. */
const rememberedTokens = 10_000
/** How many catalogs are remembered; the tokens of a project have the same. */
const rememberedCatalogs = 200
/** Milliseconds for a question to Keystone where `http_connect_timeout` says nothing. */
const defaultTimeout = 60_000

/** What is remembered of a token: its catalog is long, and little of it matters here. */
interface Known extends Omit<TokenInfo, 'catalog'> {
  /** kept for audit events only; tokens of one project share it */
  readonly catalog: readonly CatalogService[]
  /** types of service in the catalog; only kept for a token that is restricted to some requests */
  readonly services: readonly string[]
}

export interface AuthenticatedRequest {
  readonly headers: RequestHeaders
  readonly method: string
  readonly path: string
}

/** The caller's token is not good; `reason` is for the log. */
class Rejected extends Error {
  override readonly name = 'Rejected'
}

/**
 * `auth_strategy = keystone`: each token is checked at Keystone as the service user of `[keystone_authtoken]`, and remembered
 * for `token_cache_time` seconds.
 * @throws ConfigInvalid when the service user is not fully told, or a certificate cannot be read
 */
export async function keystone(config: Config, log: Logger, now: () => number = Date.now): Promise<Authenticator> {
  const options = config.keystone_authtoken
  warnOfUnused(options, log)
  const client = await clientOf(config, now)
  const keepsCatalog = config.audit.enabled && options.include_service_catalog
  const tokens = new Tokens(client, { seconds: options.token_cache_time, now, keepsCatalog })
  const uri = options.www_authenticate_uri ?? loginOptions(config).auth_url ?? ''
  return {
    identify: async (headers, request) => {
      try {
        return await identify(tokens, options, { headers, ...request })
      } catch (error) {
        return refusalFor(error, options, log, uri)
      }
    },
    close: () => client.close(),
  }
}

function warnOfUnused(options: Options, log: Logger): void {
  if (options.memcached_servers !== null && options.memcached_servers.length > 0) {
    log.warning(
      '[keystone_authtoken]memcached_servers is set; tokens are remembered in each process instead of in memcached.',
    )
  }
  if (!options.service_token_roles_required) {
    log.warning(
      '[keystone_authtoken]service_token_roles_required is false: any valid token counts as a service token. Set it to true.',
    )
  }
  if (options.www_authenticate_uri === null) {
    log.warning('[keystone_authtoken]www_authenticate_uri is not set; callers without a token are pointed to auth_url.')
  }
}

/** The group that holds the login: `[keystone_authtoken]`, or the one that its `auth_section` names. */
function loginOptions(config: Config): LoginOptions {
  const section = config.keystone_authtoken.auth_section
  if (section === null) return config.keystone_authtoken
  const group: unknown = Object.hasOwn(config, section) ? config[section as keyof Config] : undefined
  if (typeof group !== 'object' || group === null || !('auth_url' in group)) {
    throw new ConfigInvalid(
      `[keystone_authtoken]auth_section names "${section}", which is no group with a Keystone login.`,
    )
  }
  return group as unknown as LoginOptions
}

async function clientOf(config: Config, now: () => number): Promise<Keystone> {
  const { cafile, certfile, keyfile, insecure, ...options } = config.keystone_authtoken
  const login = loginOptions(config)
  if (!login.auth_url)
    throw new ConfigInvalid('[keystone_authtoken]auth_url is missing; auth_strategy = keystone needs it.')
  try {
    return new Keystone({
      login,
      tls: {
        ...(await tlsClientOptions({ verify: insecure ? false : cafile === null ? true : { caPath: cafile } })),
        ...(certfile === null
          ? {}
          : { cert: await readFile(certfile, 'utf8'), key: await readFile(keyfile ?? certfile, 'utf8') }),
      },
      timeout: options.http_connect_timeout === null ? defaultTimeout : options.http_connect_timeout * 1000,
      connectRetries: options.http_request_max_retries,
      interfaces: [options.interface],
      region: options.region_name,
      now,
    })
  } catch (cause) {
    if (cause instanceof IncompleteLogin) throw new ConfigInvalid(`[keystone_authtoken] ${cause.message}`, { cause })
    if (cause instanceof Error && 'syscall' in cause) {
      throw new ConfigInvalid(`[keystone_authtoken] a certificate cannot be read: ${cause.message}`, { cause })
    }
    throw cause
  }
}

/** Tokens that were checked a short while ago, under a digest: the memory holds no token itself. */
class Tokens {
  readonly #client: Keystone
  readonly #now: () => number
  readonly #known: LRUCache<string, Known> | undefined
  readonly #catalogs: LRUCache<string, readonly CatalogService[]> | undefined
  readonly #asking = new Map<string, Promise<Known>>()

  constructor(
    client: Keystone,
    { seconds, now, keepsCatalog }: { seconds: number; now: () => number; keepsCatalog: boolean },
  ) {
    this.#client = client
    this.#now = now
    this.#catalogs = keepsCatalog ? new LRUCache({ max: rememberedCatalogs }) : undefined
    // -1 switches remembering off, as in keystonemiddleware.
    if (seconds > 0) {
      this.#known = new LRUCache({ max: rememberedTokens, ttl: seconds * 1000, perf: { now }, ttlResolution: 0 })
    }
  }

  /** @throws Rejected, KeystoneUnavailable, MalformedToken */
  async lookUp(token: string, allowExpired = false): Promise<Known> {
    const id = createHash('sha256').update(token).digest('base64')
    const known = this.#known?.get(id) ?? (await this.#ask(id, token, allowExpired))
    if (!allowExpired && known.expiresAt.getTime() <= this.#now()) throw new Rejected('The token has ended.')
    return known
  }

  /** Requests with the same token that come at once share one question. */
  #ask(id: string, token: string, allowExpired: boolean): Promise<Known> {
    const key = `${id} ${allowExpired}`
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#validate(id, token, allowExpired).finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking
  }

  #shared(catalog: readonly CatalogService[]): readonly CatalogService[] {
    if (this.#catalogs === undefined) return []
    const text = JSON.stringify(catalog)
    const known = this.#catalogs.get(text)
    if (known !== undefined) return known
    this.#catalogs.set(text, catalog)
    return catalog
  }

  async #validate(id: string, token: string, allowExpired: boolean): Promise<Known> {
    try {
      const { catalog, ...info } = await this.#client.validate(token, allowExpired)
      const known = {
        ...info,
        services: info.accessRules === null ? [] : catalog.map((service) => service.type),
        catalog: this.#shared(catalog),
      }
      this.#known?.set(id, known)
      return known
    } catch (cause) {
      if (cause instanceof UnknownToken) throw new Rejected(cause.message, { cause })
      throw cause
    }
  }
}

async function identify(tokens: Tokens, options: Options, request: AuthenticatedRequest): Promise<Verdict> {
  const token = (headerOf(request.headers, 'x-auth-token') ?? headerOf(request.headers, 'x-storage-token'))?.trim()
  const serviceToken = headerOf(request.headers, 'x-service-token')?.trim()
  if (!token) throw new Rejected('The request has no token.')
  const service = serviceToken ? await tokens.lookUp(serviceToken) : undefined
  const mayExtend = service?.roles.some((role) => options.service_token_roles.includes(role)) ?? false
  if (service !== undefined && !mayExtend && options.service_token_roles_required) {
    throw new Rejected('The service token lacks the roles of [keystone_authtoken]service_token_roles.')
  }
  const user = await tokens.lookUp(token, mayExtend)
  if (
    user.accessRules !== null &&
    !accessRulesAllow(user.accessRules, user.services, options.service_type, request, service !== undefined)
  ) {
    throw new Rejected('The application credential is restricted to other requests.')
  }
  for (const info of service === undefined ? [user] : [service]) checkBind(info.bind, options.enforce_token_bind)
  const identity = { ...identityOf(user), auth_token: token, ...(service === undefined ? {} : serviceOf(service)) }
  return { identity, ...(user.catalog.length === 0 ? {} : { catalog: user.catalog }) }
}

/** A bind ties a token to a client of Kerberos, which this service cannot see; so a bound token is only let through unasked. */
function checkBind(bind: readonly string[], mode: string): void {
  if (mode === 'disabled') return
  const bound = mode === 'permissive' ? bind.includes('kerberos') : bind.length > 0
  if (bound || (mode !== 'permissive' && mode !== 'strict')) {
    throw new Rejected(
      'The token is bound, or must be ([keystone_authtoken]enforce_token_bind), and that cannot be checked here.',
    )
  }
}

const identityOf = (token: Known): Identity => ({
  user_id: token.user.id,
  user_name: token.user.name,
  user_domain_id: token.user.domain?.id ?? null,
  project_id: token.project?.id ?? null,
  project_name: token.project?.name ?? null,
  project_domain_id: token.project?.domain?.id ?? null,
  domain_id: token.domain?.id ?? null,
  system_scope: token.system ? 'all' : null,
  roles: token.roles,
  is_admin_project: token.isAdminProject,
})

/** The service in between. Its scope stays its own: it adds no right to the user's. */
const serviceOf = (token: Known): Partial<Identity> => ({
  service_user_id: token.user.id,
  service_user_domain_id: token.user.domain?.id ?? null,
  service_project_id: token.project?.id ?? null,
  service_project_domain_id: token.project?.domain?.id ?? null,
  service_roles: token.roles,
})

function refusalFor(error: unknown, options: Options, log: Logger, uri: string): Verdict {
  const unavailable = error instanceof KeystoneUnavailable || error instanceof MalformedToken
  if (!unavailable && !(error instanceof Rejected)) throw error
  if (unavailable) log.critical(`Tokens cannot be checked: ${error.message}`, { error })
  else log.info(`Request refused: ${error.message}`)
  // Leaves the decision to the policies: the caller counts as nobody.
  if (options.delay_auth_decision) return { identity: stranger }
  return {
    refusal: unavailable
      ? refusal(503, 'Service Unavailable', 'The identity service cannot be asked now; try again.', {})
      : refusal(401, 'Unauthorized', 'The request you have made requires authentication.', {
          'www-authenticate': `Keystone uri="${uri}"`,
        }),
  }
}

const refusal = (code: number, title: string, message: string, headers: Record<string, string>): Refusal => ({
  status: code,
  headers,
  body: { error: { code, title, message } },
})
