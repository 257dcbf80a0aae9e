import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A small Keystone on loopback: a service user that may log in, and tokens that it tells of. */
export interface TestKeystone extends AsyncDisposable {
  readonly url: string
  /** tokens it knows, as the member `token` of the answer */
  readonly tokens: Map<string, Record<string, unknown>>
  /** method and path of each request so far */
  readonly requests: string[]
  /** bodies of logins so far */
  readonly logins: unknown[]
  /** when set, every request is answered with this status */
  failWith: number | undefined
  /** makes the own token of the service worthless */
  revokeLogins(): void
}

const domain = { id: 'default', name: 'Default' }

/** A token body with the given members over stock ones: user `someone`, no scope, a day to live. */
export const tokenBody = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  user: { id: 'someone-id', name: 'someone', domain },
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  roles: [],
  ...more,
})

export async function startKeystone(): Promise<TestKeystone> {
  const tokens = new Map<string, Record<string, unknown>>()
  const requests: string[] = []
  const logins: unknown[] = []
  const own = new Set<string>()
  const state: { failWith: number | undefined } = { failWith: undefined }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${root}/v3`
  const endpoint = { interface: 'internal', region: 'one', url }
  const catalog = [{ type: 'identity', name: 'keystone', endpoints: [endpoint] }]

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(`${request.method} ${request.url}`)
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (state.failWith !== undefined) return send(state.failWith, { error: {} })
    const path = (request.url ?? '').split('?')[0]
    if (path === '/')
      return send(300, { versions: { values: [{ id: 'v3.14', links: [{ rel: 'self', href: `${url}/` }] }] } })
    if (path !== '/v3/auth/tokens') return send(404, {})
    if (request.method === 'POST') {
      logins.push(JSON.parse(text))
      const id = `own-${logins.length}`
      own.add(id)
      return send(201, { token: { ...tokenBody(), catalog } }, { 'x-subject-token': id })
    }
    if (!own.has(String(request.headers['x-auth-token']))) return send(401, { error: {} })
    const token = tokens.get(String(request.headers['x-subject-token']))
    return token === undefined ? send(404, { error: {} }) : send(200, { token })
  }

  return {
    url,
    tokens,
    requests,
    logins,
    get failWith() {
      return state.failWith
    },
    set failWith(status) {
      state.failWith = status
    },
    revokeLogins: () => own.clear(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
