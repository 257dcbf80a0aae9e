import { request } from 'undici'
import type { Dispatcher } from 'undici'

/** An answer of the API, its body parsed if it is JSON. */
export interface ApiAnswer {
  readonly status: number
  readonly body: unknown
}

/** Versions of the API that the agent knows: with the token, and with its certificate. */
const tokenVersion = '1.62'
const newestVersion = '1.68'
/** Milliseconds that the agent waits for an answer (its `http_request_timeout`). */
const timeLimit = 30_000

/** What the agent asks of the Ironic API, as ironic-python-agent 13.0.0 asks it. */
export class IronicApi {
  #urls: readonly string[]
  readonly #http: Dispatcher
  readonly #requestId: string | undefined
  #discovered = false

  constructor(urls: readonly string[], http: Dispatcher, requestId: string | undefined) {
    this.#urls = urls.map((url) => url.replace(/\/$/, ''))
    this.#http = http
    this.#requestId = requestId
  }

  /** Asks once which versions the API has. @throws Error when no URL answers */
  async discover(signal: AbortSignal): Promise<void> {
    if (this.#discovered) return
    await this.#send('GET', '/', {}, undefined, signal)
    this.#discovered = true
  }

  /** `GET /v1/lookup` by hardware addresses, and by UUID once that is known. */
  async lookup(addresses: readonly string[], node: string | undefined, signal: AbortSignal): Promise<ApiAnswer> {
    const query = new URLSearchParams({ addresses: addresses.join(',') })
    if (node !== undefined) query.set('node_uuid', node)
    const version = { 'X-OpenStack-Ironic-API-Version': tokenVersion }
    return await this.#send('GET', `/v1/lookup?${query}`, version, undefined, signal)
  }

  /** `POST /v1/heartbeat/{node}`. */
  async heartbeat(node: string, body: Record<string, unknown>, signal: AbortSignal): Promise<ApiAnswer> {
    return await this.#send(
      'POST',
      `/v1/heartbeat/${node}`,
      { 'X-OpenStack-Ironic-API-Version': newestVersion },
      body,
      signal,
    )
  }

  /** Posts what inspection found; `urls` are whole URLs, tried in order. */
  async continueInspection(
    urls: readonly string[],
    body: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ApiAnswer> {
    return await this.#first(urls, 'POST', {}, body, signal)
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body: Record<string, unknown> | undefined,
    signal: AbortSignal,
  ): Promise<ApiAnswer> {
    return await this.#first(
      this.#urls.map((url) => url + path),
      method,
      headers,
      body,
      signal,
    )
  }

  /** The first URL that can be reached answers. @throws the last connection error */
  async #first(
    urls: readonly string[],
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    body: Record<string, unknown> | undefined,
    signal: AbortSignal,
  ): Promise<ApiAnswer> {
    let last: unknown = new Error('no URL of the API is known')
    for (const url of urls) {
      try {
        const answer = await request(url, {
          method,
          dispatcher: this.#http,
          signal,
          headersTimeout: timeLimit,
          bodyTimeout: timeLimit,
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json',
            'User-Agent': 'python-requests/2.32.5',
            ...(this.#requestId === undefined ? {} : { 'X-OpenStack-Request-ID': this.#requestId }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return { status: answer.statusCode, body: parse(await answer.body.text()) }
      } catch (error) {
        if (signal.aborted) throw error
        last = error // an unreachable URL: the next one is tried
      }
    }
    throw last
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/** The sentence of an error body of the API, for the console. */
export function sentenceOf(answer: ApiAnswer): string {
  const { body } = answer
  if (typeof body === 'object' && body !== null && 'error_message' in body) {
    const inner = typeof body.error_message === 'string' ? parse(body.error_message) : body.error_message
    if (typeof inner === 'object' && inner !== null && 'faultstring' in inner) return String(inner.faultstring)
  }
  return typeof body === 'string' ? body.slice(0, 200) : JSON.stringify(body).slice(0, 200)
}
