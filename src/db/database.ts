import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

export type Dialect = 'sqlite' | 'mysql'

/** An open database: the query builder, and what differs by dialect. */
export interface Db {
  readonly sql: Kysely<Tables>
  readonly dialect: Dialect
  close(): Promise<void>
}
