import { CompiledQuery } from 'kysely'
import { IronicError } from '../../errors/define.ts'
import type { Db } from '../database.ts'
import { mysqlSchema, sqliteSchema } from '../schema/ddl.ts'
import { schemaVersion } from './version.ts'

/**
 * Makes all tables in an empty database, as `ironic-dbsync create_schema` does.
 * @param engine `[database]mysql_engine`
 * @throws IronicError when there is a schema already
 */
export async function createSchema(db: Db, { engine = 'InnoDB' } = {}): Promise<void> {
  const version = await schemaVersion(db)
  if (version !== undefined)
    throw new IronicError(
      `The database already has a schema (${version}); use "ironic-dbsync upgrade" to bring it up to date.`,
    )
  const run = (statement: string) => CompiledQuery.raw(statement)
  if (db.dialect === 'sqlite')
    await db.transaction(async (trx) => {
      for (const statement of sqliteSchema()) await trx.executeQuery(run(statement))
    })
  // MariaDB commits each CREATE TABLE by itself
  else for (const statement of mysqlSchema('create_schema', engine)) await db.sql.executeQuery(run(statement))
}
