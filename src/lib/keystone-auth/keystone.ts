import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, errors, request, type Dispatcher } from 'undici'
import type { TlsClientOptions } from '../tls/client-options.ts'
import { loginBody, type LoginOptions } from './login.ts'
import { endpointIn, readToken, type TokenInfo } from './token.ts'

/** Keystone cannot be asked now: it is down, too slow, or refuses our own login. Not the caller's fault. */
export class KeystoneUnavailable extends Error {
  override readonly name = 'KeystoneUnavailable'
}

/** Keystone does not know the token, or will not tell of it. */
export class UnknownToken extends Error {
  override readonly name = 'UnknownToken'
}

export interface KeystoneOptions {
  readonly login: LoginOptions
  readonly tls?: TlsClientOptions & { cert?: string; key?: string }
  /** milliseconds for one request, connecting included */
  readonly timeout: number
  /** how often a connection that failed is tried again */
  readonly connectRetries: number
  /** milliseconds before the first retry; each further one waits twice as long */
  readonly retryDelay?: number
  /** which entry of the catalog is Keystone, for the calls other than the login */
  readonly interfaces?: readonly string[]
  readonly region?: string | null
  /** now, in milliseconds */
  readonly now?: () => number
}

/** A token of our own is renewed this long before it ends, as keystoneauth1 does. */
const renewBefore = 30_000
const longestRetryDelay = 60_000
const mostBytes = 8 * 1024 * 1024

interface OwnToken {
  readonly id: string
  readonly info: TokenInfo
}

interface Answer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly body: unknown
}

interface Question {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Keystone's v3 API as one service user: its own token, renewed in time, the catalog, and the validation of other tokens. */
export class Keystone {
  readonly #options: KeystoneOptions
  readonly #agent: Agent
  readonly #now: () => number
  #own: OwnToken | undefined
  #loggingIn: Promise<OwnToken> | undefined
  #versioned: Promise<string> | undefined

  /** @throws IncompleteLogin when the options do not make a login */
  constructor(options: KeystoneOptions) {
    loginBody(options.login)
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#agent = new Agent({
      connections: 32,
      connect: { ...options.tls, timeout: options.timeout },
      headersTimeout: options.timeout,
      bodyTimeout: options.timeout,
    })
  }

  /** Our token, for `X-Auth-Token` at another service. @throws KeystoneUnavailable */
  async token(signal?: AbortSignal): Promise<string> {
    return (await this.#current(signal)).id
  }

  /** Where a service is, by our catalog. @throws KeystoneUnavailable */
  async endpoint(wanted: Parameters<typeof endpointIn>[1], signal?: AbortSignal): Promise<string | undefined> {
    return endpointIn((await this.#current(signal)).info, wanted)
  }

  /** Says that the token was refused by some service: the next call logs in again. */
  forgetToken(): void {
    this.#own = undefined
  }

  /**
   * What Keystone says of someone's token.
   * @param allowExpired for a call that a service makes on behalf of a user, whose token ended on the way
   * @throws UnknownToken, KeystoneUnavailable, MalformedToken
   */
  async validate(token: string, allowExpired = false, signal?: AbortSignal): Promise<TokenInfo> {
    if (!/^[\x21-\x7e]{1,8192}$/.test(token)) throw new UnknownToken('The text is no token: it could not even be sent.')
    for (const last of [false, true]) {
      const own = await this.#current(signal)
      const url = `${await this.#identityUrl(own)}/auth/tokens${allowExpired ? '?allow_expired=1' : ''}`
      const headers = { 'x-auth-token': own.id, 'x-subject-token': token, 'openstack-identity-access-rules': '1' }
      const answer = await this.#ask(url, { method: 'GET', headers }, signal)
      if (answer.status === 200) return readToken(answer.body)
      if (answer.status === 404) throw new UnknownToken('Keystone does not know the token.')
      // Our own token may have been revoked; with a new one the question is asked once more.
      if (answer.status === 401 && this.#own === own) this.forgetToken()
      if (answer.status !== 401 || last) {
        throw new KeystoneUnavailable(`Keystone at ${url} answers ${answer.status} when a token is checked.`)
      }
    }
    throw new KeystoneUnavailable('Keystone refuses our own login.')
  }

  async close(): Promise<void> {
    await this.#agent.close()
  }

  async #current(signal: AbortSignal | undefined): Promise<OwnToken> {
    const own = this.#own
    if (own !== undefined && own.info.expiresAt.getTime() - renewBefore > this.#now()) return own
    this.#loggingIn ??= this.#logIn().finally(() => (this.#loggingIn = undefined))
    const fresh = await this.#loggingIn
    signal?.throwIfAborted()
    return fresh
  }

  async #logIn(): Promise<OwnToken> {
    const url = `${await this.#authUrl()}/auth/tokens`
    const answer = await this.#ask(url, { method: 'POST', body: loginBody(this.#options.login) })
    const id = answer.headers['x-subject-token']
    if (answer.status !== 201 || typeof id !== 'string') {
      throw new KeystoneUnavailable(
        `Keystone at ${url} refuses the service user with ${answer.status}; check its name, password and domains.`,
      )
    }
    this.#own = { id, info: readToken(answer.body) }
    return this.#own
  }

  /** The v3 root below `auth_url`: as it is written, or found by asking when no version is named. */
  #authUrl(): Promise<string> {
    this.#versioned ??= this.#discover((this.#options.login.auth_url ?? '').replace(/\/+$/, '')).catch(
      (error: unknown) => {
        this.#versioned = undefined
        throw error
      },
    )
    return this.#versioned
  }

  async #identityUrl(own: OwnToken): Promise<string> {
    const { interfaces = ['internal'], region = null } = this.#options
    const url = endpointIn(own.info, { type: 'identity', interfaces, region })?.replace(/\/+$/, '')
    // A catalog without Keystone is common in small set-ups; then the place of the login serves.
    return url === undefined ? await this.#authUrl() : withVersion(url)
  }

  async #discover(url: string): Promise<string> {
    if (url.endsWith('/v3')) return url
    if (url.endsWith('/v2.0')) return withVersion(url)
    if (this.#options.login.auth_type !== 'password') return withVersion(url)
    const answer = await this.#ask(url, { method: 'GET' })
    return versionThreeIn(answer.body)?.replace(/\/+$/, '') ?? withVersion(url)
  }

  /** One question; connections that fail are tried again. @throws KeystoneUnavailable */
  async #ask(url: string, question: Question, signal?: AbortSignal): Promise<Answer> {
    const { connectRetries, retryDelay = 500 } = this.#options
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#askOnce(url, question, signal)
      } catch (cause) {
        signal?.throwIfAborted()
        if (!isTransportFault(cause)) throw cause
        if (attempt >= connectRetries) throw new KeystoneUnavailable(`Keystone at ${url} cannot be reached.`, { cause })
      }
      await sleep(Math.min(retryDelay * 2 ** attempt, longestRetryDelay), undefined, signal ? { signal } : {})
    }
  }

  async #askOnce(url: string, { method, headers, body }: Question, signal: AbortSignal | undefined): Promise<Answer> {
    const limit = AbortSignal.timeout(this.#options.timeout)
    const response = await request(url, {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: this.#agent,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    })
    return { status: response.statusCode, headers: response.headers, body: await jsonOf(response.body, url) }
  }
}

/** What a network does to a request; anything else is a fault of ours. */
const isTransportFault = (error: unknown): boolean =>
  error instanceof errors.UndiciError ||
  (error instanceof Error && ('syscall' in error || 'code' in error || error.name === 'TimeoutError'))

const withVersion = (url: string): string => (url.endsWith('/v3') ? url : `${url.replace(/\/v2\.0$/, '')}/v3`)

async function jsonOf(body: Dispatcher.ResponseData['body'], url: string): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes)
      throw new KeystoneUnavailable(`The answer of Keystone at ${url} is larger than ${mostBytes} bytes.`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // A proxy's page instead of JSON; the status says what to think of it.
    return undefined
  }
}

/** The link of version 3 in an answer of the root: `{versions: {values: [...]}}`, `{versions: [...]}` or `{version: {...}}`. */
function versionThreeIn(body: unknown): string | undefined {
  const { versions, version } = (body ?? {}) as { versions?: { values?: unknown } | unknown[]; version?: unknown }
  const listed = Array.isArray(versions) ? versions : versions?.values
  const candidates = (Array.isArray(listed) ? listed : [version]) as ({ id?: unknown; links?: unknown } | undefined)[]
  const three = candidates.find((candidate) => String(candidate?.id).startsWith('v3'))
  const links = Array.isArray(three?.links) ? (three.links as { rel?: unknown; href?: unknown }[]) : []
  const href = links.find((link) => link.rel === 'self')?.href
  return typeof href === 'string' ? href : undefined
}
