import { createServer as createHttp } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { SecureVersion } from 'node:tls'
import { listen } from '../listen.ts'
import type { Listening } from '../listen.ts'
import type { Identity } from './certificate.ts'
import type { CommandRunner, Parameters } from './commands.ts'
import { AgentError } from './errors.ts'
import type { CommandFault } from './faults.ts'

export interface AgentServerParts {
  readonly host: string
  readonly identity: Identity | null
  readonly minVersion: SecureVersion
  readonly commands: CommandRunner
  readonly startedAt: Date
  readonly version: string
  /** whether a token is the one of this agent */
  checkToken(token: string | null): boolean
  /** what a test wants to go wrong with this request */
  fault(method: string, command: string | null): CommandFault | undefined
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

const bodyLimit = 64 * 1024 * 1024

/** Starts the API of one agent (`/v1/commands`, `/v1/status`), over TLS when it has an identity. */
export async function startAgentServer(parts: AgentServerParts): Promise<Listening> {
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    serve(parts, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    )
  }
  const { identity, minVersion } = parts
  const server = identity === null ? createHttp(onRequest) : createHttps({ ...identity, minVersion }, onRequest)
  return await listen(server, parts.host, 0)
}

async function serve(parts: AgentServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bodyLimit) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  const url = new URL(request.url ?? '/', 'http://agent')
  const path = url.pathname.replace(/^\/v1(?=\/)/, '')
  const method = request.method ?? 'GET'
  const body = method === 'POST' ? parseCommand(Buffer.concat(chunks).toString('utf8')) : null
  const fault = parts.fault(method, body?.name ?? null)
  if (fault?.answer === 'hang') return
  if (fault?.answer === 'reset') {
    response.destroy()
    return
  }
  const answer =
    typeof fault?.answer === 'object' ? fault.answer : await route(parts, method, path, url.searchParams, body)
  const text = JSON.stringify(answer.body)
  response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

async function route(
  parts: AgentServerParts,
  method: string,
  path: string,
  query: URLSearchParams,
  body: { name: string; params: Parameters } | null,
): Promise<Answer> {
  if (method === 'GET' && path === '/status') {
    return { status: 200, body: { started_at: parts.startedAt.getTime() / 1000, version: parts.version } }
  }
  if (path === '/' || path === '/v1')
    return { status: 200, body: { name: 'OpenStack Ironic Python Agent API', versions: [{ id: 'v1' }] } }
  const id = /^\/commands\/([^/]*)$/.exec(path)?.[1]
  if (id === undefined) return fault(404, 'Client', '404 Not Found: The requested URL was not found on the server.')
  if (!parts.checkToken(query.get('agent_token'))) return fault(401, 'Client', '401 Unauthorized: Token invalid.')
  const wait = query.get('wait')?.toLowerCase() === 'true'
  try {
    if (method === 'POST' && id === '') {
      if (body === null) return fault(400, 'Client', '400 Bad Request: Missing or invalid name or params')
      const command = await parts.commands.start(body.name, body.params)
      if (wait) await parts.commands.wait(command.id)
      return { status: 200, body: command }
    }
    if (method === 'GET' && id === '') return { status: 200, body: { commands: parts.commands.list() } }
    if (method === 'GET') {
      if (wait) await parts.commands.wait(id)
      const command = parts.commands.get(id)
      if (command !== undefined) return { status: 200, body: command }
      return fault(404, 'Client', `Not found: Command Result with id ${id} not found.`)
    }
    return fault(405, 'Client', '405 Method Not Allowed: The method is not allowed for the requested URL.')
  } catch (error) {
    if (error instanceof AgentError) return fault(error.code, error.code >= 500 ? 'Server' : 'Client', error.message)
    throw error
  }
}

const fault = (status: number, faultcode: string, faultstring: string): Answer => ({
  status,
  body: { faultcode, faultstring },
})

function parseCommand(text: string): { name: string; params: Parameters } | null {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('name' in body) || !('params' in body)) return null
    const { name, params } = body
    if (typeof name !== 'string' || typeof params !== 'object' || params === null || Array.isArray(params)) return null
    return { name, params: { ...params } }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
