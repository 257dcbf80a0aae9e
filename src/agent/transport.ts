import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Agent, errors, request } from 'undici'
import type { Config } from '../config/index.ts'
import type { Node } from '../objects/index.ts'
import { agentTls } from './tls.ts'

export interface AgentRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly body?: string
  readonly signal: AbortSignal
}

export interface AgentAnswer {
  readonly status: number
  readonly text: string
}

/** Step results are small; collected logs are the largest thing that an agent sends. */
const longestAnswer = 128 * 1024 * 1024
const openConnections = 512
const idleSeconds = 30

/** The agent could not be asked, or its answer did not arrive whole: it may have got the command all the same. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** HTTP(S) to agents. Connections are kept per agent and certificate, so that a new certificate never meets an old connection. */
export class AgentTransport {
  readonly #config: Config
  readonly #connections = new LRUCache<string, Agent>({
    max: openConnections,
    ttl: idleSeconds * 1000,
    updateAgeOnGet: true,
    // a request under way ends first
    dispose: (connection) => void connection.close().catch(() => undefined),
  })

  constructor(config: Config) {
    this.#config = config
  }

  /** @throws NoAnswer */
  async send(node: Node, { method, url, body, signal }: AgentRequest): Promise<AgentAnswer> {
    const connection = await this.#connectionTo(node, url)
    try {
      const answer = await request(url, {
        method,
        dispatcher: connection,
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: body ?? null,
        signal,
      })
      return { status: answer.statusCode, text: await limitedText(answer.body) }
    } catch (cause) {
      if (signal.aborted && !(cause instanceof errors.UndiciError && cause.code !== 'UND_ERR_ABORTED')) {
        signal.throwIfAborted()
      }
      // the message of a connection error names host and port; the query with the token is never in it
      throw new NoAnswer(cause instanceof Error ? cause.message || cause.name : String(cause), { cause })
    }
  }

  async close(): Promise<void> {
    const open = [...this.#connections.values()]
    this.#connections.clear()
    await Promise.allSettled(open.map((connection) => connection.destroy()))
  }

  async #connectionTo(node: Node, url: URL): Promise<Agent> {
    const tls = await agentTls(node, this.#config)
    const key = createHash('sha256')
      .update(JSON.stringify([url.origin, tls]))
      .digest('base64')
    let connection = this.#connections.get(key)
    if (connection === undefined) {
      const timeout = this.#config.agent.command_timeout * 1000
      connection = new Agent({
        connect: { ...tls, timeout },
        connections: 2,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        keepAliveTimeout: 4000,
        maxResponseSize: longestAnswer,
      })
      this.#connections.set(key, connection)
    }
    return connection
  }
}

async function limitedText(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
