import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../domain/clock.ts'
import type { Node, Port } from '../objects/index.ts'
import { NodeObject } from '../objects/node.ts'
import { PortObject } from '../objects/port.ts'

/** What the conductor said. */
export interface Heard {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** command name, and null for a question for states */
  readonly command: string | null
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came over the wire
  readonly params: any
  readonly headers: IncomingMessage['headers']
}

/** An answer; `close` breaks the connection instead, `hang` never answers. */
export type Said = { status?: number; body: unknown } | 'close' | 'hang'

export interface AgentForTests {
  readonly url: string
  readonly heard: Heard[]
  /** commands that were sent, in order */
  commands(): string[]
  close(): Promise<void>
}

/** An agent that answers as it is told: the real thing on a socket, without a machine. */
export async function startAgentForTests(
  answer: (heard: Heard) => Said | Promise<Said>,
  tls: { key: string; cert: string } | null = null,
): Promise<AgentForTests> {
  const heard: Heard[] = []
  const listener: RequestListener = (request, response) => {
    void (async () => {
      const one = await read(request)
      heard.push(one)
      const said = await answer(one)
      if (said === 'hang') return
      if (said === 'close') {
        request.socket.destroy()
        return
      }
      response.writeHead(said.status ?? 200, { 'content-type': 'application/json' })
      response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body))
    })()
  }
  const server: Server = tls === null ? createHttp(listener) : createHttps(tls, listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    heard,
    commands: () => heard.flatMap((one) => (one.command === null ? [] : [one.command])),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function read(request: IncomingMessage): Promise<Heard> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const url = new URL(request.url ?? '/', 'http://agent')
  const text = Buffer.concat(parts).toString('utf8')
  const body = text === '' ? null : (JSON.parse(text) as { name: string; params: unknown })
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    command: body?.name ?? null,
    params: body?.params ?? null,
    headers: request.headers,
  }
}

/** A result as agents give it. */
export const commandResult = (
  name: string,
  status: string,
  result: unknown = null,
  error: unknown = null,
): { body: Record<string, unknown> } => ({
  body: {
    id: 'c0ffee00-0000-4000-8000-000000000000',
    command_name: name.slice(name.indexOf('.') + 1),
    command_status: status,
    command_error: error,
    command_result: result,
  },
})

const emptyOf = (fields: Readonly<Record<string, { type: string }>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { type }]) => [name, type === 'dict' ? {} : type === 'bool' ? false : null]),
  )

export const nodeForTests = (values: Partial<Node> = {}): Node =>
  ({
    ...emptyOf(NodeObject.fields),
    id: 1,
    uuid: '1be26c0b-03f2-4d2e-ae87-c02d7f33c123',
    driver: 'redfish',
    ...values,
  }) as unknown as Node

export const portForTests = (values: Partial<Port> = {}): Port =>
  ({
    ...emptyOf(PortObject.fields),
    id: 2,
    uuid: '11111111-1111-4111-8111-111111111111',
    node_id: 1,
    address: '52:54:00:00:00:01',
    ...values,
  }) as unknown as Port

/** A clock that stands still but for sleeping, which takes no time. */
export class ClockForTests implements Clock {
  #now = Date.parse('2026-12-01T12:00:00Z')
  readonly slept: number[] = []
  now(): Date {
    return new Date(this.#now)
  }
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.slept.push(ms)
    this.#now += ms
    await Promise.resolve()
  }
}
