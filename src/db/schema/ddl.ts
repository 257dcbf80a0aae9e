import type { Column, Table } from './table.ts'
import { type TableName, tables } from './tables.ts'
import { upgradedOrder } from './upgraded-order.ts'

/** What `ironic-dbsync version` reports for the schema of this release: the head of real Ironic's alembic chain. */
export const headRevision = '9fb44677ef15'

const sqliteTypes: Record<Column['type'], string> = {
  id: 'INTEGER',
  int: 'INTEGER',
  bigint: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'DATETIME',
  text: 'TEXT',
  longText: 'TEXT',
  varchar: 'VARCHAR',
}

const mysqlTypes: Record<Column['type'], string> = {
  id: 'INTEGER',
  int: 'INTEGER',
  bigint: 'BIGINT',
  bool: 'BOOL',
  time: 'DATETIME',
  text: 'TEXT',
  longText: 'LONGTEXT',
  varchar: 'VARCHAR',
}

const literal = (value: string | number) =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

function columnDdl(name: string, column: Column, types: typeof sqliteTypes, quote: string): string {
  const words = [quote + name + quote, types[column.type] + (column.length === undefined ? '' : `(${column.length})`)]
  if (column.default !== undefined) words.push(`DEFAULT ${literal(column.default)}`)
  if (column.notNull) words.push('NOT NULL')
  if (column.type === 'id' && types === mysqlTypes) words.push('AUTO_INCREMENT')
  return words.join(' ')
}

function tableDdl(
  name: string,
  table: Table,
  dialect: 'sqlite' | 'mysql',
  order: readonly string[],
  tail: string,
): string[] {
  const quote = dialect === 'sqlite' ? '"' : '`'
  const quoted = (names: readonly string[]) => names.map((each) => quote + each + quote).join(', ')
  const types = dialect === 'sqlite' ? sqliteTypes : mysqlTypes
  const lines = order.map((each) => columnDdl(each, table.columns[each]!, types, quote))
  lines.push(`PRIMARY KEY (${quoted(table.primaryKey)})`)
  for (const [key, columns] of Object.entries(table.unique)) lines.push(`CONSTRAINT ${key} UNIQUE (${quoted(columns)})`)
  for (const key of table.foreignKeys) {
    const constraint = key.name === undefined ? '' : `CONSTRAINT ${key.name} `
    lines.push(`${constraint}FOREIGN KEY (${quoted([key.column])}) REFERENCES ${key.references} (id)`)
  }
  const indexes = Object.entries(table.indexes)
  // MariaDB makes the index of a foreign key itself; ours come first so that it takes them instead
  if (dialect === 'mysql') for (const [key, columns] of indexes) lines.push(`INDEX ${key} (${quoted(columns)})`)
  const create = `CREATE TABLE ${name} (\n\t${lines.join(',\n\t')}\n)${tail}`
  if (dialect === 'mysql') return [create]
  return [create, ...indexes.map(([key, columns]) => `CREATE INDEX ${key} ON ${name} (${quoted(columns)})`)]
}

/** SQLite, as `ironic-dbsync create_schema` leaves it; the only way for SQLite, which cannot be migrated from nothing. */
export function sqliteSchema(): string[] {
  const statements = Object.entries(tables).flatMap(([name, table]) =>
    tableDdl(name, table, 'sqlite', Object.keys(table.columns), ''),
  )
  return [
    ...statements,
    'CREATE TABLE alembic_version (\n\tversion_num VARCHAR(32) NOT NULL,\n\tCONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)\n)',
    `INSERT INTO alembic_version (version_num) VALUES ('${headRevision}')`,
  ]
}

/**
 * MariaDB and MySQL.
 * @param like `create_schema`: tables in the order of the models and the collation of the database; `upgrade`: as the whole chain
 *   of migrations leaves them
 */
export function mysqlSchema(like: 'create_schema' | 'upgrade', engine = 'InnoDB'): string[] {
  const upgraded = like === 'upgrade'
  const statements = Object.entries(tables).flatMap(([name, table]) => {
    const order = upgraded ? upgradedOrder[name as TableName] : Object.keys(table.columns)
    // the migration that made runbook_traits is younger than the one that set the collation of all tables
    const collation = upgraded && name !== 'runbook_traits' ? ' COLLATE=utf8mb4_unicode_ci' : ''
    const shaped = upgraded && name === 'ports' ? { ...table, foreignKeys: upgradedPortKeys } : table
    return tableDdl(name, shaped, 'mysql', order, ` ENGINE=${engine.replaceAll(/\W/g, '')} CHARSET=utf8mb4${collation}`)
  })
  return [
    ...statements,
    `CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, PRIMARY KEY (version_num))`,
    `INSERT INTO alembic_version (version_num) VALUES ('${headRevision}')`,
  ]
}

const upgradedPortKeys = tables.ports.foreignKeys.map((key) =>
  key.column === 'portgroup_id' ? { ...key, name: 'fk_portgroups_ports' } : key,
)

/** One column as `ALTER TABLE … ADD COLUMN` takes it. */
export const columnDefinition = (table: TableName, column: string, dialect: 'sqlite' | 'mysql'): string =>
  dialect === 'sqlite'
    ? columnDdl(column, tables[table].columns[column]!, sqliteTypes, '"')
    : columnDdl(column, tables[table].columns[column]!, mysqlTypes, '`')

/** A single table as a migration makes it, columns in the order of the migrations. */
export const createTableStatements = (table: TableName, dialect: 'sqlite' | 'mysql'): string[] =>
  dialect === 'sqlite'
    ? tableDdl(table, tables[table], 'sqlite', Object.keys(tables[table].columns), '')
    : tableDdl(table, tables[table], 'mysql', upgradedOrder[table], ' ENGINE=InnoDB CHARSET=utf8mb4')
