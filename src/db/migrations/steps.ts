import { CompiledQuery, type Kysely } from 'kysely'
import type { Dialect } from '../database.ts'
import { columnDefinition, createTableStatements } from '../schema/ddl.ts'
import { type TableName, tables } from '../schema/tables.ts'
import type { Tables } from '../tables.ts'

/** What a step works on: one connection, so that its session settings and locks hold. */
export interface Bench {
  readonly dialect: Dialect
  run(statement: string): Promise<void>
  rows<R>(statement: string, parameters?: readonly unknown[]): Promise<R[]>
}

export const benchOf = (sql: Kysely<Tables>, dialect: Dialect): Bench => ({
  dialect,
  run: async (statement) => void (await sql.executeQuery(CompiledQuery.raw(statement))),
  rows: async <R>(statement: string, parameters: readonly unknown[] = []) =>
    (await sql.executeQuery<R>(CompiledQuery.raw(statement, [...parameters]))).rows,
})

/** A revision of real Ironic's chain, and what it changes. Every change looks first: after a crash the step runs again. */
export interface Step {
  readonly revision: string
  /** the first release whose schema has it */
  readonly release: string
  apply(bench: Bench): Promise<void>
}

async function columnsOf(bench: Bench, table: string): Promise<Set<string>> {
  const rows =
    bench.dialect === 'sqlite'
      ? await bench.rows<{ name: string }>(`pragma table_info(${table})`)
      : await bench.rows<{ name: string }>(
          'select column_name as name from information_schema.columns where table_schema = database() and table_name = ?',
          [table],
        )
  return new Set(rows.map((row) => row.name))
}

/** Adds columns as the table of this release declares them. */
const addColumns =
  (added: Partial<Record<TableName, readonly string[]>>) =>
  async (bench: Bench): Promise<void> => {
    for (const [table, columns] of Object.entries(added)) {
      const known = await columnsOf(bench, table)
      for (const column of columns)
        if (!known.has(column))
          await bench.run(
            `ALTER TABLE ${table} ADD COLUMN ${columnDefinition(table as TableName, column, bench.dialect)}`,
          )
    }
  }

/** Makes a table as this release declares it. */
const createTable =
  (table: TableName) =>
  async (bench: Bench): Promise<void> => {
    if ((await columnsOf(bench, table)).size > 0) return
    for (const statement of createTableStatements(table, bench.dialect)) await bench.run(statement)
  }

/** SQLite needs nothing: what it stores does not depend on the declared type. */
async function widenBounds(bench: Bench): Promise<void> {
  if (bench.dialect === 'sqlite') return
  await bench.run('ALTER TABLE bios_settings MODIFY COLUMN upper_bound BIGINT NULL')
  await bench.run('ALTER TABLE bios_settings MODIFY COLUMN lower_bound BIGINT NULL')
}

/**
 * Four-byte characters. The conversion makes TEXT columns wider (a byte per character more, so MEDIUMTEXT); they are set back to TEXT.
 */
async function useUtf8mb4(bench: Bench): Promise<void> {
  if (bench.dialect === 'sqlite') return
  const charset = 'utf8mb4 COLLATE utf8mb4_unicode_ci'
  const done = await bench.rows<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = database() and table_collation = 'utf8mb4_unicode_ci'",
  )
  const converted = new Set(done.map((row) => row.name))
  for (const [name, table] of Object.entries(tables)) {
    if (name === 'runbook_traits') continue // younger than this step
    if (!converted.has(name)) await bench.run(`ALTER TABLE ${name} CONVERT TO CHARACTER SET ${charset}`)
    const texts = Object.entries(table.columns).filter(([, column]) => column.type === 'text')
    if (texts.length === 0) continue
    const changes = texts.map(
      ([column, { notNull }]) =>
        `MODIFY COLUMN \`${column}\` TEXT CHARACTER SET ${charset} ${notNull ? 'NOT NULL' : 'NULL'}`,
    )
    await bench.run(`ALTER TABLE ${name} ${changes.join(', ')}`)
  }
}

/** The schema of 2024.2: the oldest that can be brought on from here. */
export const oldestRevision = '66bd9c5604d5'

/** From the schema of 2024.2 to that of this release, in order. */
export const steps: readonly Step[] = [
  { revision: '6e9cf6acce0b', release: '2025.1', apply: addColumns({ nodes: ['disable_power_off'] }) },
  { revision: '21c48150dea9', release: '2025.1', apply: createTable('inspection_rules') },
  { revision: '1c14278d6e33', release: '2025.2', apply: addColumns({ ports: ['description'] }) },
  { revision: 'e4827561979d', release: '2025.2', apply: addColumns({ ports: ['vendor'] }) },
  { revision: '3ef27505c9fb', release: '2025.2', apply: addColumns({ ports: ['category'] }) },
  { revision: 'd0821744f9e2', release: '2026.1', apply: addColumns({ portgroups: ['physical_network'] }) },
  { revision: '763b2f62d215', release: '2026.1', apply: addColumns({ portgroups: ['category'] }) },
  { revision: '15e9d00367b0', release: '2026.1', apply: addColumns({ nodes: ['instance_name'] }) },
  { revision: '9f8c7d6e5b4a', release: '2026.1', apply: addColumns({ nodes: ['health'] }) },
  { revision: '9c0446cb6bc3', release: '2026.1', apply: widenBounds },
  { revision: 'c1fd28861bb9', release: '2026.1', apply: useUtf8mb4 },
  {
    revision: '2a3b4c5d6e7f',
    release: '2026.1',
    apply: addColumns({ ports: ['available_for_dynamic_portgroup'], portgroups: ['dynamic_portgroup'] }),
  },
  {
    revision: 'e2d316b60d9e',
    release: '2026.2',
    async apply(bench) {
      await addColumns({ runbooks: ['description'] })(bench)
      await createTable('runbook_traits')(bench)
    },
  },
  { revision: '16990309ad9d', release: '2026.2', apply: addColumns({ node_history: ['project'] }) },
  {
    revision: '772c0e7e8299',
    release: '2026.2',
    apply: addColumns({ firmware_information: ['vendor', 'model', 'serial_number'] }),
  },
  {
    revision: '9fb44677ef15',
    release: '2026.2',
    apply: addColumns({ node_history: ['state', 'target_provision_state', 'duration_seconds'] }),
  },
]
