/** Our schema against the recorded one of real Ironic, column for column and index for index. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openDatabase } from '../../src/db/database.ts'
import { createSchema, upgrade } from '../../src/db/migrations/index.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'
import { readMysqlSchema, type TableFacts } from '../peers/schema-reader.ts'

interface Difference {
  readonly path: string
  readonly create_schema: unknown
}
interface SqliteTable {
  readonly columns: Record<string, { type: string; nullable: boolean; default: string | null }>
  readonly primary_key: string[]
  readonly unique: Record<string, string[]>
  readonly indexes: Record<string, string[]>
  readonly foreign_keys: { columns: string[]; ref_table: string; ref_columns: string[]; name: string | null }[]
}
const facts = JSON.parse(await readFile(join(import.meta.dirname, '../facts/db-schema.json'), 'utf8')) as {
  mysql: { tables: Record<string, TableFacts> }
  mysql_create_schema_differences: Difference[]
  sqlite_create_schema: { tables: Record<string, SqliteTable> }
}

const ordered = (tables: Record<string, TableFacts>) =>
  Object.fromEntries(
    Object.keys(tables)
      .toSorted()
      .map((name) => [name, { ...tables[name]!, order: Object.keys(tables[name]!.columns) }]),
  )

/** The facts tell `create_schema` as changes to what `upgrade` leaves. */
function createdTables(): Record<string, TableFacts> {
  const tables = structuredClone(facts.mysql.tables)
  for (const { path, create_schema: value } of facts.mysql_create_schema_differences) {
    const [name = '', part = '', key] = path.split('/')
    const table = tables[name]! as unknown as Record<string, unknown>
    if (part === 'columns#order')
      table['columns'] = Object.fromEntries(
        (value as string[]).map((column) => [column, (table['columns'] as Record<string, unknown>)[column]]),
      )
    else if (key === undefined) table[part] = value
    else if (value === null) delete (table[part] as Record<string, unknown>)[key]
    else (table[part] as Record<string, unknown>)[key] = value
  }
  return tables
}

describe('MariaDB', () => {
  let server: Mariadb
  before(async () => {
    server = await startMariadb()
  })
  after(() => server.stop())

  for (const [name, make, expected] of [
    ['create_schema', createSchema, createdTables()],
    ['upgrade', upgrade, facts.mysql.tables],
  ] as const)
    test(`${name} makes what real Ironic's makes`, async () => {
      const db = await openDatabase(await server.createDatabase(name))
      await make(db)
      await db.close()
      assert.deepEqual(ordered(await readMysqlSchema(server, name)), ordered(expected))
    })
})

test('SQLite has what real Ironic makes', async () => {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  type Record_ = Record<string, unknown>
  const found: Record<string, SqliteTable> = {}
  const rows = (sql: string) => db.query<Record_>(sql)
  for (const { name } of await rows(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
  )) {
    const table = String(name)
    const columns = await rows(`pragma table_info(${table})`)
    const unique: Record<string, string[]> = {}
    const indexes: Record<string, string[]> = {}
    const [{ sql } = { sql: '' }] = await rows(`select sql from sqlite_master where name = '${table}'`)
    for (const match of String(sql).matchAll(/CONSTRAINT (\w+) UNIQUE \(([^)]+)\)/g))
      unique[match[1]!] = match[2]!.split(', ').map((each) => each.replaceAll('"', ''))
    for (const index of await rows(`pragma index_list(${table})`))
      if (index['origin'] === 'c')
        indexes[String(index['name'])] = (await rows(`pragma index_info(${String(index['name'])})`)).map((each) =>
          String(each['name']),
        )
    const named = [...String(sql).matchAll(/CONSTRAINT (\w+) FOREIGN KEY \("(\w+)"\)/g)].map(
      (each) => [each[2], each[1]] as const,
    )
    found[table] = {
      columns: Object.fromEntries(
        columns.map((each) => [
          String(each['name']),
          { type: String(each['type']), nullable: each['notnull'] === 0, default: each['dflt_value'] as string | null },
        ]),
      ),
      primary_key: columns
        .filter((each) => Number(each['pk']) > 0)
        .toSorted((a, b) => Number(a['pk']) - Number(b['pk']))
        .map((each) => String(each['name'])),
      unique,
      indexes,
      foreign_keys: (await rows(`pragma foreign_key_list(${table})`)).map((each) => ({
        columns: [String(each['from'])],
        ref_table: String(each['table']),
        ref_columns: [String(each['to'])],
        name: named.find(([column]) => column === each['from'])?.[1] ?? null,
      })),
    }
  }
  await db.close()
  assert.deepEqual(Object.keys(found).toSorted(), Object.keys(facts.sqlite_create_schema.tables).toSorted())
  for (const [name, expected] of Object.entries(facts.sqlite_create_schema.tables)) {
    const table = found[name]!
    assert.deepEqual(Object.entries(table.columns), Object.entries(expected.columns), name)
    assert.deepEqual(table.primary_key, expected.primary_key, name)
    assert.deepEqual(table.unique, expected.unique, name)
    assert.deepEqual(table.indexes, expected.indexes, name)
    const keys = (list: SqliteTable['foreign_keys']) =>
      list
        .map(({ columns, ref_table, ref_columns, name: key }) => JSON.stringify([columns, ref_table, ref_columns, key]))
        .toSorted()
    assert.deepEqual(keys(table.foreign_keys), keys(expected.foreign_keys), name)
  }
})
