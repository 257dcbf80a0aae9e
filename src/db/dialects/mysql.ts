import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, TLSSocket } from 'node:tls'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  type QueryResult,
} from 'kysely'
import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import { InvalidParameterValue, TemporaryFailure } from '../../errors/base.ts'
import type { DatabaseAddress } from '../connection-url.ts'
import { OutcomeUnknown, retrying, type RetrySettings } from '../retry.ts'

export interface MysqlSettings {
  readonly address: Extract<DatabaseAddress, { dialect: 'mysql' }>
  /** `[database]max_pool_size` + `max_overflow` */
  readonly connections: number
  /** kept open when idle: `[database]max_pool_size` */
  readonly idleConnections: number
  /** `[database]connection_recycle_time`, in ms */
  readonly recycleAfter: number
  /** `[database]mysql_sql_mode` */
  readonly sqlMode: string
  /** `[database]mysql_wsrep_sync_wait` */
  readonly wsrepSyncWait?: number
  readonly retry: RetrySettings
  /** how long a statement waits for a free connection and for its answer, in ms */
  readonly poolTimeout: number
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string } | null)?.code
const numberOf = (error: unknown): number | undefined => (error as { errno?: number } | null)?.errno

/** Nothing of the transaction was done: deadlock, lock wait, Galera's certification failure or a node that is not in the cluster. */
export const isDeadlock = (error: unknown): boolean => {
  const errno = numberOf(error)
  // 1205 lock wait timeout, 1213 deadlock (also Galera certification), 1047 WSREP not ready, 1020 snapshot is gone (MariaDB 11.6)
  return errno === 1213 || errno === 1205 || errno === 1047 || errno === 1020
}

const lostCodes = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
  'PROTOCOL_ENQUEUE_AFTER_QUIT',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNABORTED',
  'ER_CLIENT_INTERACTION_TIMEOUT',
])
// 1053 server shutdown, 1077, 1927 connection killed, 1152/1158..1161 network, 4031 idle too long
const lostNumbers = new Set([1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 4031])

/** The connection is gone; whether the last statement was done is unknown. */
export const isConnectionLost = (error: unknown): boolean =>
  lostCodes.has(codeOf(error) ?? '') || lostNumbers.has(numberOf(error) ?? -1) || isFatal(error)

const isFatal = (error: unknown): boolean => (error as { fatal?: boolean } | null)?.fatal === true

// no such user, password, right or database: asking again changes nothing
const refusals = new Set([1044, 1045, 1049, 1130, 1251, 1698])

/** A connection could not be made: nothing was sent. */
class Unreachable extends Error {}

const isUnreachable = (error: unknown): boolean => error instanceof Unreachable

/** mysql2 gives `Error` objects with the password nowhere in them; the address is enough to find the culprit. */
const place = ({ socket, host, port, database }: MysqlSettings['address']) =>
  `${socket ?? `${host}:${port}`}/${database}`

function fileOf(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidParameterValue(`[database]connection: ${parameter} names a file that cannot be read: ${reason}`, {
      cause,
    })
  }
}

/** A server told by its address must have that address in its certificate. @throws Unreachable */
function checkAddress({ host, tls }: MysqlSettings['address'], stream: unknown): void {
  if (!tls?.checkHost || isIP(host) === 0 || !(stream instanceof TLSSocket)) return
  const cause = checkServerIdentity(host, stream.getPeerCertificate())
  if (cause !== undefined) throw new Unreachable(`The certificate of the database is not for ${host}`, { cause })
}

export function mysqlPool({ address, connections, idleConnections, recycleAfter, poolTimeout }: MysqlSettings): Pool {
  const { tls } = address
  return createPool({
    ...(address.socket === undefined ? { host: address.host, port: address.port } : { socketPath: address.socket }),
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(tls === undefined
      ? {}
      : {
          ssl: {
            ...(tls.ca === undefined ? {} : { ca: fileOf('ssl_ca', tls.ca) }),
            ...(tls.cert === undefined ? {} : { cert: fileOf('ssl_cert', tls.cert) }),
            ...(tls.key === undefined ? {} : { key: fileOf('ssl_key', tls.key) }),
            rejectUnauthorized: tls.verify,
            // mysql2 compares names only; addresses are checked in `checkAddress`
            verifyIdentity: tls.checkHost && isIP(address.host) === 0,
          },
        }),
    database: address.database,
    // utf8 of the URL means utf8mb4 to every server of today
    charset: 'utf8mb4',
    connectionLimit: connections,
    maxIdle: idleConnections,
    idleTimeout: recycleAfter,
    connectTimeout: address.connectTimeout ?? Math.min(poolTimeout, 10_000),
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    dateStrings: true,
    supportBigNumbers: true,
    timezone: 'Z',
    // an object as a value is a defect, and must never become SQL
    stringifyObjects: true,
    multipleStatements: false,
    // UPDATE counts the rows that it found, as pymysql asks for: the lock of a node relies on it
    flags: ['FOUND_ROWS'],
  })
}

interface Held {
  readonly connection: PoolConnection
}

/** Prepared sessions of a pool, and the rules of when a statement may run again. */
export class MysqlSessions {
  readonly pool: Pool
  readonly settings: MysqlSettings
  readonly #ready = new WeakSet<object>()
  readonly #used = new WeakMap<object, number>()

  constructor(settings: MysqlSettings) {
    this.settings = settings
    this.pool = mysqlPool(settings)
  }

  /** A live connection with our session settings. @throws Unreachable */
  async acquire(): Promise<Held> {
    let connection: PoolConnection
    try {
      connection = await this.#withinTime(this.pool.getConnection())
    } catch (cause) {
      if (cause instanceof TemporaryFailure) throw cause
      const where = `Database ${place(this.settings.address)}`
      const reason = cause instanceof Error ? cause.message || codeOf(cause) : String(cause)
      if (refusals.has(numberOf(cause) ?? -1))
        throw new TemporaryFailure(`${where} refuses the login: ${reason}; check [database]connection.`, { cause })
      throw new Unreachable(`${where} cannot be reached (${reason})`, { cause })
    }
    const raw = connection.connection
    try {
      if (!this.#ready.has(raw)) {
        checkAddress(this.settings.address, (raw as unknown as { stream: unknown }).stream)
        // not as a variable: MariaDB before 11.1 and MySQL 8 call it differently
        await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
        await connection.query(this.#sessionSettings())
        this.#ready.add(raw)
      } else if (Date.now() - (this.#used.get(raw) ?? 0) > 1000) {
        // the server may have dropped it meanwhile; a statement must not be the first to find out
        await connection.ping()
      }
    } catch (cause) {
      connection.destroy()
      if (cause instanceof Unreachable || !isConnectionLost(cause)) throw cause
      throw new Unreachable(`Database ${place(this.settings.address)} closed the connection`, { cause })
    }
    return { connection }
  }

  release({ connection }: Held, error?: unknown): void {
    if (error !== undefined && isConnectionLost(error)) connection.destroy()
    else {
      this.#used.set(connection.connection, Date.now())
      connection.release()
    }
  }

  async #withinTime(connection: Promise<PoolConnection>): Promise<PoolConnection> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.settings.poolTimeout)
    })
    const first = await Promise.race([connection, late]).finally(() => clearTimeout(timer))
    if (first !== 'late') return first
    void connection.then(
      (each) => each.release(),
      () => undefined,
    )
    throw new TemporaryFailure(
      `No connection to database ${place(this.settings.address)} became free within ${this.settings.poolTimeout / 1000} seconds; raise [database]max_pool_size or try again.`,
    )
  }

  #sessionSettings(): string {
    const { sqlMode, wsrepSyncWait } = this.settings
    const parts = [`SESSION time_zone = '+00:00'`]
    if (sqlMode !== '') parts.push(`SESSION sql_mode = '${sqlMode.replaceAll(/[^\w,]/g, '')}'`)
    if (wsrepSyncWait !== undefined) parts.push(`SESSION wsrep_sync_wait = ${Math.trunc(wsrepSyncWait)}`)
    return `SET ${parts.join(', ')}`
  }
}

// too long for its column, out of its range, characters that its character set does not have
const unfit = new Set([1406, 1264, 1366])

async function send<R>({ connection }: Held, query: CompiledQuery): Promise<QueryResult<R>> {
  const [result] = await connection.query(query.sql, query.parameters as unknown[]).catch((cause: unknown) => {
    if (!unfit.has(numberOf(cause) ?? -1)) throw cause
    // SQLite stores whatever comes; here the caller learns which value it is
    const column = /column [`']([^`']+|[^ ]+)['`](?: at row|$)/
      .exec((cause as Error).message)?.[1]
      ?.split('`')
      .at(-1)
    throw new InvalidParameterValue(
      `The value of ${column ?? 'a field'} does not fit the database: ${(cause as Error).message}.`,
      { cause },
    )
  })
  if (Array.isArray(result)) return { rows: result as R[] }
  const { affectedRows, insertId } = result as ResultSetHeader
  return { rows: [], numAffectedRows: BigInt(affectedRows), ...(insertId === 0 ? {} : { insertId: BigInt(insertId) }) }
}

const isRead = (query: CompiledQuery): boolean =>
  query.query.kind === 'SelectQueryNode' ||
  (query.query.kind === 'RawNode' && /^\s*(?:select|show|explain)\b/i.test(query.sql))

const unknownOutcome = (cause: unknown) =>
  new OutcomeUnknown(
    'The connection to the database broke before it confirmed the change: it may or may not have been stored. Look before you try again.',
    { cause },
  )

const unreachable = (cause: unknown) =>
  new TemporaryFailure(
    `${cause instanceof Error ? cause.message : 'The database cannot be reached'}; see [database]connection, and try again.`,
    { cause },
  )

class MysqlConnection implements DatabaseConnection {
  readonly #sessions: MysqlSessions
  #held: Held | undefined

  constructor(sessions: MysqlSessions) {
    this.#sessions = sessions
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#held !== undefined) return await send(this.#held, query)
    const read = isRead(query)
    const again = (error: unknown) => isUnreachable(error) || isDeadlock(error) || (read && isConnectionLost(error))
    try {
      return await retrying(() => this.#once<R>(query), again, this.#sessions.settings.retry)
    } catch (error) {
      if (isUnreachable(error)) throw unreachable(error)
      if (isConnectionLost(error)) throw read ? unreachable(error) : unknownOutcome(error)
      throw error
    }
  }

  async #once<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const held = await this.#sessions.acquire()
    let failure: unknown
    try {
      return await send<R>(held, query)
    } catch (error) {
      failure = error
      throw error
    } finally {
      this.#sessions.release(held, failure)
    }
  }

  async begin(): Promise<void> {
    this.#held = await retrying(
      async () => {
        const held = await this.#sessions.acquire()
        try {
          await held.connection.query('BEGIN')
          return held
        } catch (error) {
          this.#sessions.release(held, error)
          throw error
        }
      },
      (error) => isUnreachable(error) || isConnectionLost(error),
      this.#sessions.settings.retry,
    ).catch((error: unknown) => {
      throw isUnreachable(error) || isConnectionLost(error) ? unreachable(error) : error
    })
  }

  async commit(): Promise<void> {
    const held = this.#held!
    this.#held = undefined
    let failure: unknown
    try {
      await held.connection.query('COMMIT')
    } catch (error) {
      failure = error
      throw isConnectionLost(error) ? unknownOutcome(error) : error
    } finally {
      this.#sessions.release(held, failure)
    }
  }

  async rollback(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held === undefined) return
    let failure: unknown
    try {
      await held.connection.query('ROLLBACK')
    } catch (error) {
      // a server that lost the connection has rolled back by itself
      failure = error
      if (!isConnectionLost(error)) throw error
    } finally {
      this.#sessions.release(held, failure)
    }
  }

  // oxlint-disable-next-line require-yield -- part of the interface; pages are small
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('rows are not streamed; page through them')
  }
}

class MysqlDriver implements Driver {
  readonly #sessions: MysqlSessions
  constructor(sessions: MysqlSessions) {
    this.#sessions = sessions
  }
  async init() {}
  async acquireConnection() {
    return new MysqlConnection(this.#sessions)
  }
  async beginTransaction(connection: MysqlConnection) {
    await connection.begin()
  }
  async commitTransaction(connection: MysqlConnection) {
    await connection.commit()
  }
  async rollbackTransaction(connection: MysqlConnection) {
    await connection.rollback()
  }
  async releaseConnection() {}
  async destroy() {}
}

/** Kysely on mysql2; the pool is closed by who opened it. Reads run again when the connection breaks, changes only when nothing of them can have been done. */
export const mysqlDialect = (sessions: MysqlSessions): Dialect => ({
  createDriver: () => new MysqlDriver(sessions),
  createQueryCompiler: () => new MysqlQueryCompiler(),
  createAdapter: () => new MysqlAdapter(),
  createIntrospector: (db) => new MysqlIntrospector(db),
})
