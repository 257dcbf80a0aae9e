import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, type SecureVersion } from 'node:tls'
import { promisify } from 'node:util'
import { gunzip, inflate, type ZlibOptions } from 'node:zlib'
import { Agent, errors, request } from 'undici'
import { BmcUnreachable, type ConnectionFault } from './problems.ts'
import { Turnstile } from './turnstile.ts'

/** What to trust of a BMC's certificate: everything, the usual authorities, or those in a file or folder. */
export type VerifyCa = boolean | string

export interface TlsSettings {
  readonly verifyCa: VerifyCa
  /** `1.1`, `1.2`, `1.3` */
  readonly minimumVersion?: string | null
  /** OpenSSL cipher list */
  readonly ciphers?: string | null
}

export interface TransportLimits {
  readonly connectTimeoutMs: number
  /** between two pieces of an answer */
  readonly readTimeoutMs: number
  /** requests open to one BMC at a time */
  readonly concurrency: number
  readonly maxBodyBytes: number
  /** how deeply an answer may be nested */
  readonly maxDepth: number
}

export const usualLimits: TransportLimits = {
  connectTimeoutMs: 30_000,
  readTimeoutMs: 60_000,
  concurrency: 4,
  maxBodyBytes: 16 * 1024 * 1024,
  maxDepth: 64,
}

export interface Exchange {
  readonly method: string
  /** absolute */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly tls: TlsSettings
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** parsed JSON; null when there was none */
  readonly body: unknown
  /** where it came from, after redirects */
  readonly url: URL
}

const maxRedirects = 5
/** An answer that arrives drop by drop is given up after this many read time-outs. */
const wholeAnswerFactor = 5
const decoders: Readonly<Record<string, (raw: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
}
const redirects = new Set([301, 302, 303, 307, 308])

/**
 * HTTP to BMCs. One connection per request, told by `Connection: close`: many BMCs break on connections that are kept.
 * Redirects are followed on the same origin and for reading only, so that credentials and actions go nowhere else.
 */
export class Transport {
  private readonly limits: TransportLimits
  private readonly agents = new Map<string, Agent>()
  private readonly turnstiles = new Map<string, Turnstile>()

  constructor(limits: Partial<TransportLimits> = {}) {
    this.limits = { ...usualLimits, ...limits }
  }

  /** Closes what is open. Requests under way are aborted. */
  async close(): Promise<void> {
    const agents = [...this.agents.values()]
    this.agents.clear()
    await Promise.all(agents.map((agent) => agent.destroy()))
  }

  /** @throws BmcUnreachable; the signal's reason */
  async send(exchange: Exchange): Promise<Answer> {
    const origin = exchange.url.origin
    const turnstile = this.turnstiles.get(origin) ?? new Turnstile(this.limits.concurrency)
    this.turnstiles.set(origin, turnstile)
    try {
      return await turnstile.pass(() => this.follow(exchange), exchange.signal)
    } finally {
      if (turnstile.idle) this.turnstiles.delete(origin)
    }
  }

  private async follow(exchange: Exchange): Promise<Answer> {
    let { url } = exchange
    for (let hops = 0; ; hops++) {
      const answer = await this.once({ ...exchange, url })
      const location = answer.headers['location']
      if (!redirects.has(answer.status) || location === undefined) return answer
      const next = URL.parse(location, url.href)
      if (exchange.method !== 'GET' || next === null || next.origin !== url.origin)
        throw new BmcUnreachable(
          url.href,
          'answer',
          `the BMC redirects ${exchange.method} to ${next?.href ?? 'an unreadable address'}, which is refused; name the final address in redfish_address`,
        )
      if (hops === maxRedirects)
        throw new BmcUnreachable(exchange.url.href, 'answer', `more than ${maxRedirects} redirects`)
      url = next
    }
  }

  private async once({ method, url, headers: sent, body, tls, signal }: Exchange): Promise<Answer> {
    const { connectTimeoutMs, readTimeoutMs } = this.limits
    const whole = AbortSignal.timeout(connectTimeoutMs + readTimeoutMs * wholeAnswerFactor)
    try {
      const response = await request(url.href, {
        method: method as 'GET',
        headers: sent,
        body: body ?? null,
        reset: true,
        headersTimeout: readTimeoutMs,
        bodyTimeout: readTimeoutMs,
        signal: signal === undefined ? whole : AbortSignal.any([signal, whole]),
        dispatcher: this.agentFor(tls),
      })
      const headers = flat(response.headers)
      const raw = await this.decode(url, headers['content-encoding'], await this.readBody(url, response.body))
      return { status: response.statusCode, headers, body: this.parse(url, response.statusCode, raw), url }
    } catch (cause) {
      if (cause instanceof BmcUnreachable) throw cause
      if (signal?.aborted === true) throw signal.reason
      if (whole.aborted) throw new BmcUnreachable(url.href, 'timeout', 'the answer took too long', cause)
      throw new BmcUnreachable(url.href, faultOf(cause), reasonOf(cause), cause)
    }
  }

  private async readBody(url: URL, stream: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of stream) {
      size += chunk.length
      if (size > this.limits.maxBodyBytes) {
        stream.destroy()
        throw new BmcUnreachable(url.href, 'answer', `the answer is larger than ${this.limits.maxBodyBytes} bytes`)
      }
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }

  /** Some BMCs compress although asked not to. */
  private async decode(url: URL, encoding: string | undefined, raw: Buffer): Promise<Buffer> {
    const decoder = encoding === undefined ? undefined : decoders[encoding.trim().toLowerCase()]
    if (decoder === undefined || raw.length === 0) return raw
    try {
      return await decoder(raw, { maxOutputLength: this.limits.maxBodyBytes })
    } catch (cause) {
      throw new BmcUnreachable(
        url.href,
        'answer',
        `the answer (${encoding}) cannot be unpacked within the size limit`,
        cause,
      )
    }
  }

  /** A body that is no JSON matters only where one is needed: callers get null. */
  private parse(url: URL, status: number, raw: Buffer): unknown {
    if (raw.length === 0) return null
    const text = raw.toString('utf8').replace(/^\uFEFF/, '')
    if (nesting(text, this.limits.maxDepth) > this.limits.maxDepth)
      throw new BmcUnreachable(url.href, 'answer', `the answer is nested deeper than ${this.limits.maxDepth} levels`)
    try {
      return JSON.parse(text)
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause
      if (status >= 400 || text.trim() === '') return null
      throw new BmcUnreachable(url.href, 'answer', `the answer (status ${status}) is not JSON`, cause)
    }
  }

  private agentFor(tls: TlsSettings): Agent {
    const key = JSON.stringify([tls.verifyCa, tls.minimumVersion ?? null, tls.ciphers ?? null])
    const known = this.agents.get(key)
    if (known !== undefined) return known
    const agent = new Agent({
      connections: this.limits.concurrency,
      pipelining: 1,
      maxHeaderSize: 64 * 1024,
      allowH2: false,
      connect: { timeout: this.limits.connectTimeoutMs, ...tlsOptions(tls) },
    })
    this.agents.set(key, agent)
    return agent
  }
}

function tlsOptions(tls: TlsSettings) {
  return {
    rejectUnauthorized: tls.verifyCa !== false,
    ...(tls.verifyCa !== false && { ca: authorities(tls.verifyCa) }),
    ...(tls.minimumVersion ? { minVersion: `TLSv${tls.minimumVersion}` as SecureVersion } : {}),
    ...(tls.ciphers ? { ciphers: tls.ciphers } : {}),
  }
}

/** Authorities to trust: a bundle, every file of a folder (OpenSSL's hashed folders too), or what Node and the host know. */
function authorities(verify: true | string): string[] {
  if (verify === true) return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])]
  if (!statSync(verify).isDirectory()) return [readFileSync(verify, 'utf8')]
  return readdirSync(verify)
    .map((name) => join(verify, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => readFileSync(path, 'utf8'))
    .filter((content) => content.includes('-----BEGIN CERTIFICATE-----'))
}

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter((entry): entry is [string, string | string[]] => entry[1] !== undefined)
      .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]),
  )

/** How deeply brackets are nested, strings left out; stops counting above `limit`. */
function nesting(json: string, limit: number): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length && deepest <= limit; at++) {
    const char = json.charCodeAt(at)
    if (char === 0x22) {
      for (at++; at < json.length && json.charCodeAt(at) !== 0x22; at++) if (json.charCodeAt(at) === 0x5c) at++
    } else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (char === 0x7d || char === 0x5d) depth--
  }
  return deepest
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : ''

const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

function faultOf(error: unknown): ConnectionFault {
  const code = codeOf(error)
  if (error instanceof errors.ConnectTimeoutError || connectCodes.has(code)) return 'connect'
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return 'timeout'
  if (isTls(error)) return 'tls'
  if (error instanceof errors.HTTPParserError || code.startsWith('HPE_')) return 'answer'
  if (error instanceof AggregateError) return 'connect'
  return 'closed'
}

function isTls(error: unknown): boolean {
  const code = codeOf(error)
  return (
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    code === 'EPROTO' ||
    code.includes('CERT') ||
    code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' ||
    code === 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'
  )
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  if (isTls(error))
    return `the TLS connection was not accepted (${code}: ${message}); check the certificate of the BMC, redfish_verify_ca, redfish_tls_minimum_version and redfish_tls_ciphers`
  if (error instanceof errors.ConnectTimeoutError) return 'no connection within the time limit'
  if (error instanceof errors.HeadersTimeoutError) return 'no answer within the time limit'
  if (error instanceof errors.BodyTimeoutError) return 'the answer stopped half-way'
  if (error instanceof AggregateError) return error.errors.map((each) => reasonOf(each)).join('; ')
  return code === '' || message.includes(code) ? message : `${message} (${code})`
}
