/** An API on a database in memory, for the unit tests beside this folder's files. */
import { testConfig, type ConfigOverrides } from '../config/for-tests.ts'
import { openDatabase, type Db } from '../db/database.ts'
import { createSchema } from '../db/migrations/create-schema.ts'
import type { Clock } from '../domain/clock.ts'
import { NoValidHost } from '../errors/conductor.ts'
import { silentLogger, type Logger } from '../lib/oslo-log/logger.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { ConductorClient } from '../rpc/conductor.ts'
import type { ConductorRouting } from '../rpc/routing.ts'
import type { Audit } from './audit.ts'
import { noauth } from './auth/noauth.ts'
import { openAuthorizer, type Authorizer } from './authorizer.ts'
import { createApi, type ApiServer } from './server.ts'

const systemClock: Clock = {
  now: () => new Date(),
  sleep: () => Promise.reject(new Error('nothing here waits')),
}

/** Sends everything to one client; without one there is no conductor. */
export const routingTo = (client: ConductorClient | undefined, host = 'test-host'): ConductorRouting => {
  const reached = (): Promise<ConductorClient> =>
    client === undefined
      ? Promise.reject(new NoValidHost({ reason: 'no conductor is running' }))
      : Promise.resolve(client)
  return {
    hostOfNode: () =>
      client === undefined
        ? Promise.reject(new NoValidHost({ reason: 'no conductor is running' }))
        : Promise.resolve(host),
    ofNode: reached,
    forUpkeep: reached,
    ofDriver: reached,
    any: reached,
  }
}

export interface TestApi extends AsyncDisposable {
  readonly api: ApiServer
  readonly db: Db
  /** Status, headers and the answer; an error envelope is unpacked into `fault`. */
  ask(
    method: string,
    url: string,
    options?: { body?: unknown; minor?: number | string; headers?: Record<string, string> },
  ): Promise<Answer>
}
export interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the API answers
  readonly body: any
  // oxlint-disable-next-line typescript/no-explicit-any -- the text inside `error_message`, parsed
  readonly fault: any
}

export async function testApi({
  config: overrides = {},
  conductor,
  routing = {},
  policy = openAuthorizer,
  audit,
  notifier,
  log = silentLogger,
}: {
  config?: ConfigOverrides
  conductor?: ConductorClient
  /** what is found otherwise than by `routingTo(conductor)` */
  routing?: Partial<ConductorRouting>
  policy?: Authorizer
  audit?: Audit | undefined
  notifier?: Pick<Notifier, 'emit'>
  log?: Logger
} = {}): Promise<TestApi> {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  const config = testConfig(overrides)
  const api = createApi({
    config,
    db,
    log,
    clock: systemClock,
    conductors: { ...routingTo(conductor), ...routing },
    policy,
    authenticator: noauth,
    ...(audit === undefined ? {} : { audit }),
    ...(notifier === undefined ? {} : { notifier }),
  })
  return {
    api,
    db,
    async ask(method, url, { body, minor = 'latest', headers = {} } = {}) {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await api.inject({
        method: method as 'GET',
        url,
        headers: {
          'x-openstack-ironic-api-version': typeof minor === 'number' ? `1.${minor}` : minor,
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(text === undefined ? {} : { payload: text }),
      })
      const parsed: unknown = answer.payload === '' ? undefined : JSON.parse(answer.payload)
      const inside = (parsed as { error_message?: string } | undefined)?.error_message
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: parsed,
        fault: inside !== undefined && /^\s*[{[]/.test(inside) ? (JSON.parse(inside) as unknown) : inside,
      }
    },
    async [Symbol.asyncDispose]() {
      await api.close()
      await db.close()
    },
  }
}
