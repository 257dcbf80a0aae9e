import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { Dispatcher } from 'undici'

/** An answer that was not the one hoped for. */
export class IronicAnswerError extends Error {
  readonly status: number
  constructor(method: string, path: string, status: number, sentence: string) {
    super(`${method} ${path}: ${status} ${sentence}`)
    this.status = status
  }
}

/** A node as the API shows it; only what is used here has a type. */
export interface ShownNode {
  readonly uuid: string
  readonly name: string | null
  readonly provision_state: string
  readonly target_provision_state: string | null
  readonly power_state: string | null
  readonly last_error: string | null
  readonly reservation: string | null
  readonly maintenance: boolean
  readonly clean_step?: { readonly step?: string } | null
  readonly deploy_step?: { readonly step?: string } | null
  readonly [field: string]: unknown
}

export interface ClientOptions {
  readonly dispatcher?: Dispatcher
  /** X-OpenStack-Ironic-API-Version */
  readonly version?: string
  /** how often a 409 (locked) or 503 (no worker free) is tried again */
  readonly attempts?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A client of the Ironic API, speaking HTTP as any other. */
export class IronicClient {
  readonly base: string
  readonly #options: ClientOptions

  constructor(base: string, options: ClientOptions = {}) {
    this.base = base.replace(/\/$/, '')
    this.#options = options
  }

  /** @throws IronicAnswerError for 4xx and 5xx @throws the system's error when nobody listens */
  async call<T = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<T> {
    const attempts = this.#options.attempts ?? 30
    for (let attempt = 1; ; attempt++) {
      const answer = await request(this.base + path, {
        method,
        headersTimeout: 120_000,
        headers: {
          'X-OpenStack-Ironic-API-Version': this.#options.version ?? 'latest',
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...this.#options.headers,
        },
        ...(this.#options.dispatcher === undefined ? {} : { dispatcher: this.#options.dispatcher }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.body.text()
      if (answer.statusCode < 400) return (text === '' ? null : JSON.parse(text)) as T
      const busy = answer.statusCode === 409 || answer.statusCode === 503
      if (!busy || attempt >= attempts) throw new IronicAnswerError(method, path, answer.statusCode, sentence(text))
      await sleep(300)
    }
  }

  node(id: string): Promise<ShownNode> {
    return this.call('GET', `/v1/nodes/${encodeURIComponent(id)}`)
  }

  async createNode(values: Readonly<Record<string, unknown>>): Promise<ShownNode> {
    return await this.call('POST', '/v1/nodes', values)
  }

  async createPort(node: string, address: string): Promise<void> {
    await this.call('POST', '/v1/ports', { node_uuid: node, address, pxe_enabled: true })
  }

  async patch(id: string, values: Readonly<Record<string, unknown>>): Promise<ShownNode> {
    const operations = Object.entries(values).map(([path, value]) =>
      value === undefined ? { op: 'remove', path } : { op: 'add', path, value },
    )
    return await this.call('PATCH', `/v1/nodes/${encodeURIComponent(id)}`, operations)
  }

  async provision(id: string, target: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.call('PUT', `/v1/nodes/${encodeURIComponent(id)}/states/provision`, { target, ...more })
  }

  /**
   * Waits until a node is in one of the states and nothing is wanted of it any more.
   * @param limit milliseconds
   * @throws Error with the last that was seen when the time is over
   */
  async waitFor(
    id: string,
    states: readonly string[],
    { limit = 60_000, every = 200, seen }: { limit?: number; every?: number; seen?: (node: ShownNode) => void } = {},
  ): Promise<ShownNode> {
    const began = Date.now()
    for (;;) {
      const node = await this.node(id)
      seen?.(node)
      if (states.includes(node.provision_state) && node.reservation === null) return node
      if (Date.now() - began > limit) {
        throw new Error(
          `node ${node.name ?? id} is ${node.provision_state} (last error: ${node.last_error ?? 'none'}), not ${states.join(' or ')}, after ${limit / 1000} s`,
        )
      }
      await sleep(every)
    }
  }
}

function sentence(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error_message' in body)) return text.slice(0, 500)
    const message = body.error_message
    const inner: unknown = typeof message === 'string' && message.startsWith('{') ? JSON.parse(message) : message
    if (typeof inner === 'object' && inner !== null && 'faultstring' in inner) return String(inner.faultstring)
    return String(message)
  } catch (error) {
    if (error instanceof SyntaxError) return text.slice(0, 500)
    throw error
  }
}
