import { CompiledQuery, Kysely } from 'kysely'
import type { Clock } from '../domain/clock.ts'
import type { ReleaseName } from '../objects/convert.ts'
import { readConnectionUrl } from './connection-url.ts'
import { isConnectionLost, isDeadlock, mysqlDialect, MysqlSessions } from './dialects/mysql.ts'
import { nodeSqliteDialect, SqliteSessions } from './dialects/node-sqlite.ts'
import { retrying, type RetrySettings } from './retry.ts'
import type { Tables } from './tables.ts'

export type Dialect = 'sqlite' | 'mysql'

/** An open database: the query builder, and what differs by dialect. */
export interface Db {
  /** Statements of their own. Inside `transaction` only the builder that the body got may be used. */
  readonly sql: Kysely<Tables>
  readonly dialect: Dialect
  /** `pin_release_version`: the release that rows are written for */
  readonly pin: ReleaseName | undefined
  /** time for created_at, updated_at and the filters that look back */
  now(): Date
  /**
   * Runs `body` in a transaction (READ COMMITTED on MariaDB); again from its start when the database says that nothing was done
   * (deadlock, lock wait, Galera certification, connection lost before the commit), so the body must not act on anything else.
   * @throws TemporaryFailure when the connection broke during the commit: what happened is not known
   */
  transaction<T>(body: (sql: Kysely<Tables>) => Promise<T>): Promise<T>
  /** A read told as text, for the hot paths: no builder, a statement that is prepared once. Names in `"` or none. */
  query<R>(text: string, parameters?: readonly unknown[]): Promise<R[]>
  /**
   * A change told as text, likewise; a statement of its own.
   * @returns how many rows it found; on SQLite also its rows, when it says `returning`
   */
  change(text: string, parameters?: readonly unknown[]): Promise<{ found: number; rows: Record<string, unknown>[] }>
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** `[database]connection_parameters`: `a=b&c=d`, added to the URL */
  readonly connectionParameters?: string
  readonly clock?: Pick<Clock, 'now'>
  readonly pin?: ReleaseName | undefined
  /** `[database]sqlite_synchronous` */
  readonly sqliteSynchronous?: boolean
  /** `[database]sqlite_max_wait_for_retry`, in seconds */
  readonly sqliteMaxWait?: number
  readonly maxPoolSize?: number
  readonly maxOverflow?: number
  /** in seconds */
  readonly poolTimeout?: number
  /** in seconds */
  readonly connectionRecycleTime?: number
  readonly mysqlSqlMode?: string
  readonly mysqlWsrepSyncWait?: number
  /** `[database]db_max_retries` */
  readonly maxRetries?: number
  /** `[database]db_retry_interval`, in seconds */
  readonly retryInterval?: number
  /** `[database]db_max_retry_interval`, in seconds */
  readonly maxRetryInterval?: number
}

/**
 * Opens a database by its SQLAlchemy URL. SQLite files are made when missing; a MariaDB server is first asked at the first statement.
 * @param url `[database]connection`
 * @throws InvalidParameterValue for a URL that cannot be read
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Db> {
  const { connectionParameters: more = '' } = options
  const address = readConnectionUrl(more === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${more}`)
  const clock = options.clock ?? { now: () => new Date() }
  const retry: RetrySettings = {
    attempts: options.maxRetries ?? 20,
    // a deadlock is over in no time; a server that restarts needs the longer pauses
    pause: Math.min((options.retryInterval ?? 1) * 1000, 50),
    maxPause: Math.min((options.maxRetryInterval ?? 10) * 1000, 2000),
  }
  const { sql, query, change, close } =
    address.dialect === 'sqlite'
      ? openSqlite(
          await SqliteSessions.open({
            ...(address.file === undefined ? {} : { file: address.file }),
            synchronous: options.sqliteSynchronous ?? true,
            maxWait: (options.sqliteMaxWait ?? 10) * 1000,
          }),
        )
      : openMysql(
          new MysqlSessions({
            address,
            connections: Math.max(1, (options.maxPoolSize ?? 5) + Math.max(0, options.maxOverflow ?? 50)),
            idleConnections: options.maxPoolSize ?? 5,
            recycleAfter: (options.connectionRecycleTime ?? 3600) * 1000,
            sqlMode: options.mysqlSqlMode ?? 'TRADITIONAL',
            ...(options.mysqlWsrepSyncWait === undefined ? {} : { wsrepSyncWait: options.mysqlWsrepSyncWait }),
            retry,
            poolTimeout: (options.poolTimeout ?? 30) * 1000,
          }),
        )
  let closed: Promise<void> | undefined
  const again = (error: unknown) => isDeadlock(error) || isConnectionLost(error)
  return {
    sql,
    dialect: address.dialect,
    pin: options.pin,
    now: () => clock.now(),
    transaction: (body) => retrying(() => sql.transaction().execute(body), again, retry),
    query,
    change,
    close: () => (closed ??= close()),
  }
}

type Opened = Pick<Db, 'sql' | 'query' | 'change' | 'close'>

function openSqlite(sessions: SqliteSessions): Opened {
  const sql = new Kysely<Tables>({ dialect: nodeSqliteDialect(sessions) })
  return {
    sql,
    query: async <R>(text: string, parameters: readonly unknown[] = []) =>
      (await sessions.read(text, parameters)) as R[],
    async change(text: string, parameters: readonly unknown[] = []) {
      const { found, rows } = await sessions.change(text, parameters)
      return { found: Number(found), rows: rows as Record<string, unknown>[] }
    },
    async close() {
      await sql.destroy()
      sessions.close()
    },
  }
}

function openMysql(sessions: MysqlSessions): Opened {
  const sql = new Kysely<Tables>({ dialect: mysqlDialect(sessions) })
  return {
    sql,
    query: async <R>(text: string, parameters: readonly unknown[] = []) =>
      (await sql.executeQuery<R>(CompiledQuery.raw(text.replaceAll('"', '`'), [...parameters]))).rows,
    async change(text: string, parameters: readonly unknown[] = []) {
      const raw = CompiledQuery.raw(text.replaceAll('"', '`'), [...parameters])
      const { numAffectedRows } = await sql.executeQuery(raw)
      return { found: Number(numAffectedRows ?? 0n), rows: [] }
    },
    async close() {
      await sql.destroy()
      await sessions.pool.end()
    },
  }
}
