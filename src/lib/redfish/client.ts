import type { Logger } from '../oslo-log/logger.ts'
import { describe } from './messages.ts'
import { AccessRefused, BmcRefused, BmcUnreachable, PropertyMissing, RedfishProblem, refusal } from './problems.ts'
import { isObject, type JsonObject, link } from './shape.ts'
import type { Answer, TlsSettings, Transport } from './transport.ts'

/** Time, as the client needs it. */
export interface Waiter {
  now(): Date
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export type AuthType = 'basic' | 'session' | 'auto'

export interface ClientOptions {
  /** scheme and authority, `https://192.0.2.1` */
  readonly address: string
  readonly rootPrefix?: string
  readonly username: string | null
  readonly password: string | null
  readonly authType: AuthType
  readonly tls: TlsSettings
  readonly transport: Transport
  readonly waiter: Waiter
  readonly log: Logger
}

export interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** false: never sent a second time once it may have arrived */
  readonly repeatable?: boolean
}

/** Attempts and pauses are those that operators know from the BMC library of real Ironic. */
export const patience = { attempts: 10, attemptsWhenSilent: 3, delayMs: 3000, longestRetryAfterMs: 60_000 } as const
/** A login that was refused is not tried again at once: BMCs lock accounts. */
const refusalMemoryMs = 5000
const closingLimitMs = 5000
const hopelessMs = 10 * 60_000
const hopelessKept = 64
/** Server errors that no waiting mends (RFC 9110 section 15.6). */
const neverAgain: ReadonlySet<number> = new Set([501, 505])

/** Answers of a BMC that is busy for a moment, though their status says otherwise. */
const busyWords: readonly (readonly string[])[] = [
  ['SYS518'], // iDRAC: still at the previous operation
  ['iLO', 'InvalidOperationForSystemState'],
]

type Login =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly header: string }
  | { readonly kind: 'session'; readonly token: string; readonly uri: string | null }

/**
 * One BMC and user: logs in when first needed, shares the session among all callers, logs in again when it has expired,
 * and tries again what is worth it. Holds the password; nothing here logs bodies or headers.
 */
export class RedfishClient {
  readonly address: string
  readonly rootPrefix: string
  private readonly options: ClientOptions
  private readonly lifetime = new AbortController()
  private login: Login | null = null
  private loggingIn: Promise<Login> | null = null
  private rootDocument: Promise<JsonObject> | null = null
  private refused: { readonly problem: AccessRefused; readonly until: number } | null = null
  /** a session was given once: no falling back to Basic any more */
  private sessionWorked = false
  /** a fresh session did not help against 403: it is about rights */
  private forbiddenMeansRights = false
  private hasAnswered = false
  /** paths that failed to the last attempt, and until when they are worth one attempt only */
  private readonly hopeless = new Map<string, number>()

  constructor(options: ClientOptions) {
    this.options = options
    this.address = options.address
    const prefix =
      options.rootPrefix === undefined || options.rootPrefix === '' || options.rootPrefix === '/'
        ? '/redfish/v1/'
        : options.rootPrefix
    this.rootPrefix = prefix.endsWith('/') ? prefix : `${prefix}/`
  }

  get closed(): boolean {
    return this.lifetime.signal.aborted
  }

  /** The service root; read once, without credentials (DSP0266 "Authentication requirements for resources"). */
  async root(signal?: AbortSignal): Promise<JsonObject> {
    this.rootDocument ??= watched(this.readRoot())
    const reading = this.rootDocument
    try {
      return await this.waitFor(reading, signal)
    } catch (error) {
      if (this.rootDocument === reading && signal?.aborted !== true) this.rootDocument = null
      throw error
    }
  }

  /**
   * Sends a request as the user; gives the answer when its status is below 400.
   * @throws BmcRefused and its kinds, BmcUnreachable, the signal's reason
   */
  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    let left: number = this.isHopeless(path) ? 1 : patience.attempts
    let loginsLeft = 1
    let headers = call.headers ?? {}
    for (;;) {
      const login = await this.loggedIn(call.signal)
      try {
        const answer = await this.send(method, path, { ...call, headers: { ...authorization(login), ...headers } })
        this.hopeless.delete(path)
        return answer
      } catch (error) {
        if (error instanceof AccessRefused && loginsLeft > 0 && login.kind === 'session' && this.mayBeExpired(error)) {
          loginsLeft--
          await this.renew(login, error, call.signal)
          continue
        }
        if (error instanceof AccessRefused) {
          if (error.status === 403 && loginsLeft === 0) this.forbiddenMeansRights = true
          if (error.status === 401) this.rememberRefusal(error)
          throw error
        }
        if (
          error instanceof BmcRefused &&
          error.status === 406 &&
          method === 'GET' &&
          headers['Accept-Encoding'] === undefined
        ) {
          headers = { ...headers, 'Accept-Encoding': 'gzip, deflate' }
          continue
        }
        const delay = --left > 0 ? retryDelay(method, error) : null
        if (delay === null) {
          if (left <= 0 && error instanceof BmcRefused && error.isServerSide) this.giveUpOn(path)
          throw error
        }
        this.options.log.warning(`The BMC at ${this.address} is busy; trying again`, { delay_ms: delay, error })
        await this.options.waiter.sleep(delay, call.signal)
      }
    }
  }

  /**
   * PATCH with the tag of the resource, as BMCs differ: 412 to a weak tag is answered by its strong form, 412 to a strong one by
   * none; 428 by the tag that `currentTag` reads.
   */
  async patch(
    path: string,
    body: unknown,
    {
      tag,
      currentTag,
      signal,
    }: {
      tag?: string | undefined
      currentTag?: () => Promise<string | undefined>
      signal?: AbortSignal | undefined
    } = {},
  ): Promise<Answer> {
    const tags: (string | undefined)[] =
      tag === undefined ? [undefined] : tag.startsWith('W/') ? [tag, tag.slice(2), undefined] : [tag, undefined]
    for (const [index, value] of tags.entries()) {
      try {
        return await this.call('PATCH', path, {
          body,
          signal,
          headers: value === undefined ? {} : { 'If-Match': value },
        })
      } catch (error) {
        if (!(error instanceof BmcRefused)) throw error
        if (error.status === 428 && value === undefined && currentTag !== undefined) {
          const read = await currentTag()
          if (read !== undefined) return this.call('PATCH', path, { body, signal, headers: { 'If-Match': read } })
        }
        if (error.status !== 412 || index === tags.length - 1) throw error
      }
    }
    throw new Error('unreachable')
  }

  /** Ends the session on the BMC and refuses further calls. A BMC that does not answer is left alone. */
  async close(): Promise<void> {
    if (this.closed) return
    const { login } = this
    this.lifetime.abort(new RedfishProblem(`The connection to ${this.address} was closed`))
    this.login = null
    if (login?.kind === 'session' && login.uri !== null)
      await this.endSession(login, AbortSignal.timeout(closingLimitMs))
  }

  private async endSession(login: Extract<Login, { kind: 'session' }>, signal: AbortSignal): Promise<void> {
    if (login.uri === null) return
    try {
      await this.send('DELETE', login.uri, { headers: authorization(login), signal, repeatable: false })
    } catch (error) {
      if (!(error instanceof RedfishProblem) && !signal.aborted) throw error
      this.options.log.debug(`The session at ${this.address} could not be ended`, { error })
    }
  }

  /** Parts that a BMC cannot serve at all (emulators, half-built firmware) cost half a minute once, not at each reading. */
  private isHopeless(path: string): boolean {
    const until = this.hopeless.get(path)
    if (until === undefined) return false
    if (this.options.waiter.now().getTime() < until) return true
    this.hopeless.delete(path)
    return false
  }

  private giveUpOn(path: string): void {
    if (this.hopeless.size >= hopelessKept) this.hopeless.clear()
    this.hopeless.set(path, this.options.waiter.now().getTime() + hopelessMs)
  }

  private mayBeExpired(error: AccessRefused): boolean {
    return error.status === 401 || !this.forbiddenMeansRights
  }

  private rememberRefusal(problem: AccessRefused): void {
    this.refused = { problem, until: this.options.waiter.now().getTime() + refusalMemoryMs }
  }

  /** A new session in place of one that is no longer taken; callers that find it replaced already use the new one. */
  private async renew(
    used: Extract<Login, { kind: 'session' }>,
    refusedWith: AccessRefused,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.login === used) {
      this.login = null
      if (refusedWith.status === 403) await this.endSession(used, AbortSignal.timeout(closingLimitMs))
    }
    await this.loggedIn(signal)
  }

  private async loggedIn(signal?: AbortSignal): Promise<Login> {
    signal?.throwIfAborted()
    this.lifetime.signal.throwIfAborted()
    if (this.refused !== null && this.options.waiter.now().getTime() < this.refused.until) throw this.refused.problem
    if (this.login !== null) return this.login
    this.loggingIn ??= watched(
      this.logIn().finally(() => {
        this.loggingIn = null
      }),
    )
    return this.waitFor(this.loggingIn, signal)
  }

  private async logIn(): Promise<Login> {
    const { username, password, authType } = this.options
    const basic: Login = {
      kind: 'basic',
      header: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`,
    }
    this.refused = null
    if ((username === null || username === '') && (password === null || password === ''))
      return (this.login = { kind: 'none' })
    if (authType === 'basic') return (this.login = basic)
    try {
      this.login = await this.openSession()
      this.sessionWorked = true
      return this.login
    } catch (error) {
      // A BMC without sessions, or one that has no room for another, may still take Basic.
      const fallBack =
        authType === 'auto' && !this.sessionWorked && (error instanceof BmcRefused || error instanceof PropertyMissing)
      if (error instanceof AccessRefused && !fallBack) this.rememberRefusal(error)
      if (!fallBack) throw error
      this.options.log.warning(`The BMC at ${this.address} gives no session; using Basic authentication`, { error })
      return (this.login = basic)
    }
  }

  private async openSession(): Promise<Login> {
    const { username, password, authType, waiter, log } = this.options
    const path = await this.sessionsPath()
    for (let left: number = patience.attempts; ;) {
      try {
        const answer = await this.send('POST', path, {
          body: { UserName: username, Password: password ?? '' },
          signal: this.lifetime.signal,
        })
        const token = answer.headers['x-auth-token']
        if (token === undefined || token === '') throw new PropertyMissing('X-Auth-Token', path)
        return { kind: 'session', token, uri: answer.headers['location'] ?? link(answer.body) ?? null }
      } catch (error) {
        // No room for a session: with Basic at hand that is used instead, else room is waited for.
        const full = error instanceof BmcRefused && error.status === 503 && authType === 'session'
        const delay = --left > 0 ? (full ? (error.retryAfterMs ?? patience.delayMs) : retryDelay('POST', error)) : null
        if (delay === null) throw error
        log.warning(`The BMC at ${this.address} opens no session now; trying again`, { delay_ms: delay, error })
        await waiter.sleep(delay, this.lifetime.signal)
      }
    }
  }

  /** Where sessions are made: the root says so; else the path that the standard names. */
  private async sessionsPath(): Promise<string> {
    const standard = `${this.rootPrefix}SessionService/Sessions`
    try {
      const root = await this.root()
      const links = root['Links']
      return (isObject(links) ? link(links['Sessions']) : undefined) ?? standard
    } catch (error) {
      if (error instanceof BmcRefused) return standard
      throw error
    }
  }

  private async readRoot(): Promise<JsonObject> {
    for (let left: number = patience.attempts; ;) {
      try {
        const answer = await this.send('GET', this.rootPrefix, { signal: this.lifetime.signal })
        if (!isObject(answer.body))
          throw new BmcUnreachable(answer.url.href, 'answer', 'the answer is not a Redfish service root')
        return answer.body
      } catch (error) {
        const delay = --left > 0 ? retryDelay('GET', error) : null
        if (delay === null) throw error
        await this.options.waiter.sleep(delay, this.lifetime.signal)
      }
    }
  }

  /** One request, sent again while the connection breaks. A BMC that was never heard of is not waited for. */
  private async send(method: string, path: string, call: Call): Promise<Answer> {
    const url = this.urlOf(path)
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.options.transport.send({
          method,
          url,
          headers: {
            Accept: '*/*',
            'Accept-Encoding': 'identity',
            'OData-Version': '4.0',
            'User-Agent': 'openkeel-ironic',
            ...(call.body !== undefined && { 'Content-Type': 'application/json' }),
            ...call.headers,
          },
          body: call.body === undefined ? undefined : JSON.stringify(call.body),
          tls: this.options.tls,
          signal: call.signal,
        })
        this.hasAnswered = true
        if (answer.status < 400) return answer
        throw refusal(method, url.href, answer.status, answer.body, {
          retryAfterMs: retryAfter(answer.headers['retry-after'], this.options.waiter.now()),
          messages: describe(answer.body),
        })
      } catch (error) {
        if (!(error instanceof BmcUnreachable) || !this.worthAnother(error, call, attempt)) throw error
        this.options.log.warning(`The connection to the BMC at ${this.address} broke; trying again`, { error })
        await this.options.waiter.sleep(patience.delayMs, call.signal)
      }
    }
  }

  private worthAnother(error: BmcUnreachable, call: Call, attempt: number): boolean {
    if (!this.hasAnswered || error.fault === 'tls' || error.fault === 'answer') return false
    if (attempt >= (error.fault === 'timeout' ? patience.attemptsWhenSilent : patience.attempts)) return false
    return call.repeatable !== false || error.fault === 'connect'
  }

  /** @throws RedfishProblem for an address outside this BMC: credentials never go there */
  private urlOf(path: string): URL {
    const url = URL.parse(path, this.address)
    if (url === null || url.origin !== new URL(this.address).origin)
      throw new RedfishProblem(
        `The BMC at ${this.address} refers to ${path}, which is not its own; this is not followed`,
      )
    return url
  }

  /** The shared promise, or the caller's own end. */
  private async waitFor<T>(shared: Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal === undefined) return shared
    signal.throwIfAborted()
    let stop = () => {}
    const aborted = new Promise<never>((_resolve, reject) => {
      const onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      stop = () => signal.removeEventListener('abort', onAbort)
    })
    try {
      return await Promise.race([shared, aborted])
    } finally {
      stop()
    }
  }
}

/** A promise that several wait for, or nobody any more: its failure is each waiter's, and no failure of the process. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

const authorization = (login: Login): Record<string, string> =>
  login.kind === 'session'
    ? { 'X-Auth-Token': login.token }
    : login.kind === 'basic'
      ? { Authorization: login.header }
      : {}

/** Milliseconds until another attempt; null when the answer is final. */
function retryDelay(method: string, error: unknown): number | null {
  if (!(error instanceof BmcRefused)) return null
  if (neverAgain.has(error.status)) return null
  const busy =
    (error.isServerSide || error.status === 400) &&
    busyWords.some((words) => words.every((word) => error.words.includes(word)))
  return busy || (error.isServerSide && method === 'GET') ? (error.retryAfterMs ?? patience.delayMs) : null
}

/** `Retry-After` in milliseconds, bounded (RFC 9110 section 10.2.3). */
export function retryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), patience.longestRetryAfterMs)
}
