import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { readConnectionUrl } from '../db/connection-url.ts'
import { type Db, openDatabase } from '../db/database.ts'
import { createSchema, schemaVersion } from '../db/migrations/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { CommandFailure } from './run-command.ts'

/** `[database]connection`, else a file beside the other state of the service. */
export function connectionUrl(config: Config): string {
  const { connection, connection_parameters: parameters } = config.database
  if (connection === null || connection === '') return `sqlite:///${join(config.DEFAULT.state_path, 'ironic.sqlite')}`
  if (parameters === null || parameters === '') return connection
  return `${connection}${connection.includes('?') ? '&' : '?'}${parameters}`
}

export const usesSqlite = (config: Config): boolean => connectionUrl(config).startsWith('sqlite')

/** Opens the database that the configuration names. A new SQLite file belongs to this user alone. */
export async function openConfiguredDatabase(config: Config, clock: Clock): Promise<Db> {
  const url = connectionUrl(config)
  const address = readConnectionUrl(url)
  if (address.dialect === 'sqlite' && address.file !== undefined) makePrivateFile(address.file)
  const { database } = config
  return await openDatabase(url, {
    clock,
    connectionParameters: database.connection_parameters,
    pin: config.DEFAULT.pin_release_version ?? undefined,
    sqliteSynchronous: database.sqlite_synchronous,
    ...(database.sqlite_retries ? { sqliteMaxWait: database.sqlite_max_wait_for_retry } : { sqliteMaxWait: 0 }),
    maxPoolSize: database.max_pool_size,
    maxOverflow: database.max_overflow,
    ...(database.pool_timeout === null ? {} : { poolTimeout: database.pool_timeout }),
    connectionRecycleTime: database.connection_recycle_time,
    mysqlSqlMode: database.mysql_sql_mode,
    ...(database.mysql_wsrep_sync_wait === null ? {} : { mysqlWsrepSyncWait: database.mysql_wsrep_sync_wait }),
    maxRetries: database.db_max_retries,
    retryInterval: database.db_retry_interval,
    maxRetryInterval: database.db_max_retry_interval,
  })
}

/** SQLite gives its journal files the mode of the database file. */
function makePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

/**
 * Sees that there are tables. Only an empty SQLite file gets them by itself; a shared database is the operator's to change.
 *
 * @throws CommandFailure for an empty MariaDB
 */
export async function ensureSchema(db: Db, log: Logger): Promise<void> {
  if ((await schemaVersion(db)) !== undefined) return
  if (db.dialect !== 'sqlite') {
    throw new CommandFailure(
      'The database of [database]connection has no tables yet: run "ironic-dbsync create_schema" once.',
    )
  }
  await createSchema(db)
  log.info('The database file was empty: its tables were created.')
}
