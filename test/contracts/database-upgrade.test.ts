/**
 * Databases that real Ironic 2025.2 (32.0.0) and 2026.1 (35.0.0) made and filled, brought to this release: the schema ends as real
 * `ironic-dbsync upgrade` leaves it, the data can be read, and data migrations end.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { type Db, openDatabase } from '../../src/db/database.ts'
import { getBiosSetting } from '../../src/db/bios-settings.ts'
import { getConductor } from '../../src/db/conductors.ts'
import { getDeployTemplate } from '../../src/db/deploy-templates.ts'
import {
  headRevision,
  onlineDataMigrations,
  schemaVersion,
  unreadableRows,
  upgrade,
} from '../../src/db/migrations/index.ts'
import { listNodeHistory } from '../../src/db/node-history.ts'
import { getNode, listNodes } from '../../src/db/nodes.ts'
import { getPortgroup } from '../../src/db/portgroups.ts'
import { getPort } from '../../src/db/ports.ts'
import { getRunbook } from '../../src/db/runbooks.ts'
import { tables } from '../../src/db/schema/tables.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'
import { readMysqlSchema, type TableFacts } from '../peers/schema-reader.ts'

const releases = { '2025.2': { applied: 11 }, '2026.1': { applied: 4 } } as const
type Release = keyof typeof releases

const recorded = (release: Release, dialect: string) =>
  readFile(join(import.meta.dirname, `../wire/database/${release}-${dialect}.sql`), 'utf8')

const settings = { maxCount: 50, enabledInspectInterfaces: ['agent', 'redfish'] }

async function readsAll(db: Db): Promise<void> {
  const node = await getNode(db, 'n1')
  assert.deepEqual(node.driver_info, { a: 'xä' })
  assert.deepEqual(node.extra, { k: [1] })
  assert.equal(node.owner, 'me')
  assert.equal(node.health, null)
  assert.equal(node.disable_power_off, false)
  assert.deepEqual(
    node.traits?.map((each) => each['trait'] as string),
    ['CUSTOM_A'],
  )
  assert.deepEqual((await getNode(db, 'n2')).instance_info, { blob: 'y'.repeat(300) })
  assert.equal((await listNodes(db)).length, 2)
  const port = await getPort(db, '52:54:00:00:00:01')
  assert.deepEqual([port.node_uuid, port.available_for_dynamic_portgroup, port.category], [node.uuid, true, null])
  assert.deepEqual((await getPortgroup(db, 'pg')).dynamic_portgroup ?? false, false)
  assert.equal((await getDeployTemplate(db, 'CUSTOM_T')).steps.length, 1)
  assert.equal((await getBiosSetting(db, node.id, 'a')).upper_bound, 10)
  assert.equal((await listNodeHistory(db, node.id))[0]?.event, 'e')
  assert.equal((await getConductor(db, 'old')).online, true)
}

async function migratesData(db: Db): Promise<void> {
  assert.deepEqual(await unreadableRows(db), [])
  const small = await onlineDataMigrations(db, { ...settings, maxCount: 2 })
  assert.equal(small.finished, false)
  for (let rounds = 0; ; rounds += 1) {
    const { results, finished } = await onlineDataMigrations(db, settings)
    if (finished && results.every((each) => each.migrated === 0)) break
    assert.ok(rounds < 20)
  }
  assert.equal((await getNode(db, 'n1')).inspect_interface, 'agent')
  assert.deepEqual((await getRunbook(db, 'CUSTOM_R')).traits, ['CUSTOM_R'])
  const versions = await db.query<{ version: string }>('select distinct version from nodes')
  assert.deepEqual(
    versions.map((each) => each.version),
    ['1.44'],
  )
}

describe('MariaDB', () => {
  let server: Mariadb
  let facts: Record<string, TableFacts>
  before(async () => {
    server = await startMariadb()
    const text = await readFile(join(import.meta.dirname, '../facts/db-schema.json'), 'utf8')
    facts = (JSON.parse(text) as { mysql: { tables: Record<string, TableFacts> } }).mysql.tables
  })
  after(() => server.stop())

  const filled = async (release: Release, name: string) => {
    const url = await server.createDatabase(name)
    // the dump has tables in alphabetical order, so their foreign keys point ahead
    await server.query(`set foreign_key_checks = 0; ${await recorded(release, 'mariadb')}`, name)
    return await openDatabase(url)
  }
  const order = (schema: Record<string, TableFacts>) =>
    Object.fromEntries(Object.entries(schema).map(([name, table]) => [name, Object.keys(table.columns)]))

  for (const release of Object.keys(releases) as Release[])
    test(`from ${release}`, async () => {
      const name = `from_${release.replace('.', '_')}`
      const db = await filled(release, name)
      assert.equal((await upgrade(db)).applied.length, releases[release].applied)
      const schema = await readMysqlSchema(server, name)
      assert.deepEqual(schema, facts)
      assert.deepEqual(order(schema), order(facts))
      await readsAll(db)
      await migratesData(db)
      assert.deepEqual((await upgrade(db)).applied, [])
      await db.close()
    })

  test('an upgrade that was cut off goes on', async () => {
    const db = await filled('2025.2', 'cut_off')
    await upgrade(db, { revision: '15e9d00367b0' })
    assert.equal(await schemaVersion(db), '15e9d00367b0')
    // the next steps were half done when the process died: the change is there, the stamp is not
    await db.sql.executeQuery(CompiledQuery.raw('alter table nodes add column health varchar(32)'))
    await db.sql.executeQuery(
      CompiledQuery.raw('alter table chassis convert to character set utf8mb4 collate utf8mb4_unicode_ci'),
    )
    await upgrade(db)
    assert.deepEqual(await readMysqlSchema(server, 'cut_off'), facts)
    await db.close()
  })

  test('two at once do it once', async () => {
    const db = await filled('2025.2', 'twice')
    const done = await Promise.all([upgrade(db), upgrade(db)])
    assert.deepEqual(
      done.map((each) => each.applied.length).toSorted((a, b) => a - b),
      [0, 11],
    )
    assert.deepEqual(await readMysqlSchema(server, 'twice'), facts)
    await db.close()
  })
})

describe('SQLite', () => {
  for (const release of Object.keys(releases) as Release[])
    test(`from ${release}`, async () => {
      const db = await openDatabase('sqlite://')
      await db.transaction(async (trx) => {
        const statements = (await recorded(release, 'sqlite')).split(/;\n/).map((each) => each.trim())
        for (const statement of statements)
          if (statement !== '' && !/^(BEGIN|COMMIT)/.test(statement))
            await trx.executeQuery(CompiledQuery.raw(statement))
      })
      assert.equal((await upgrade(db)).applied.length, releases[release].applied)
      assert.equal(await schemaVersion(db), headRevision)
      for (const [name, table] of Object.entries(tables)) {
        const columns = await db.query<{ name: string }>(`pragma table_info(${name})`)
        assert.deepEqual(columns.map((each) => each.name).toSorted(), Object.keys(table.columns).toSorted(), name)
      }
      await readsAll(db)
      await migratesData(db)
      await db.close()
    })
})
