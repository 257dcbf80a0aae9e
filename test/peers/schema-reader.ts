/** Reads a schema back from a database, in the shape of `test/facts/db-schema.json`. */
import type { Mariadb } from './mariadb.ts'

export interface TableFacts {
  engine: unknown
  charset: string
  collation: unknown
  columns: Record<string, Record<string, unknown>>
  primary_key: string[]
  unique: Record<string, string[]>
  indexes: Record<string, string[]>
  foreign_keys: Record<string, Record<string, unknown>>
}

const text = (value: unknown) => (value === null || value === undefined ? null : String(value))

/** A schema of MariaDB, from its information_schema. Columns are in their order in the table. */
export async function readMysqlSchema(server: Mariadb, database: string): Promise<Record<string, TableFacts>> {
  const rows = (what: string, table: string, order: string, key = 'table_schema') =>
    server.query(`select ${what} from information_schema.${table} where ${key} = '${database}' order by ${order}`)
  const tables: Record<string, TableFacts> = {}
  const known = await rows('table_name n, engine e, table_collation c', 'tables', 'table_name')
  for (const { n, e, c } of known)
    tables[String(n)] = {
      engine: e,
      charset: String(c).split('_')[0]!,
      collation: c,
      columns: {},
      primary_key: [],
      unique: {},
      indexes: {},
      foreign_keys: {},
    }
  const columns = await rows(
    'table_name t, column_name n, column_type y, is_nullable u, column_default d, extra x, collation_name c',
    'columns',
    'table_name, ordinal_position',
  )
  for (const { t, n, y, u, d, x, c } of columns) {
    const table = tables[String(t)]!
    table.columns[String(n)] = {
      type: y,
      nullable: u === 'YES',
      default: d === null || d === 'NULL' ? null : text(d),
      ...(String(x).includes('auto_increment') ? { auto_increment: true } : {}),
      ...(c !== null && c !== table.collation ? { collation: c } : {}),
    }
  }
  const keys = await rows(
    'table_name t, index_name i, non_unique u, column_name c',
    'statistics',
    'table_name, index_name, seq_in_index',
  )
  for (const { t, i, u, c } of keys) {
    const table = tables[String(t)]!
    const name = String(i)
    if (name === 'PRIMARY') table.primary_key.push(String(c))
    else ((Number(u) === 0 ? table.unique : table.indexes)[name] ??= []).push(String(c))
  }
  const rules = await rows(
    'constraint_name n, table_name t, referenced_table_name r, update_rule u, delete_rule d',
    'referential_constraints',
    'table_name, constraint_name',
    'constraint_schema',
  )
  const usage = await rows(
    'constraint_name n, table_name t, column_name c, referenced_column_name r',
    'key_column_usage',
    'table_name, constraint_name, ordinal_position',
  )
  for (const { n, t, r, u, d } of rules) {
    const parts = usage.filter((each) => each['n'] === n && each['t'] === t)
    tables[String(t)]!.foreign_keys[String(n)] = {
      columns: parts.map((each) => each['c']),
      ref_table: r,
      ref_columns: parts.map((each) => each['r']),
      on_update: u,
      on_delete: d,
    }
  }
  return tables
}
