import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConnectionUrl, withoutPassword } from './connection-url.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { createSchema, schemaVersion, stamp, unreadableRows, upgrade } from './migrations/index.ts'
import { createNode, getNode, listNodes, updateNode } from './nodes.ts'
import { duplicateColumns } from './violations.ts'

describe('connection URLs as SQLAlchemy writes them', () => {
  const mysql = { dialect: 'mysql', host: 'db', port: 3306, database: 'ironic' } as const
  const cases: readonly [string, unknown][] = [
    ['sqlite://', { dialect: 'sqlite' }],
    ['sqlite:///:memory:', { dialect: 'sqlite' }],
    ['sqlite:///relative/x.sqlite', { dialect: 'sqlite', file: 'relative/x.sqlite' }],
    ['sqlite:////var/lib/ironic/ironic.sqlite', { dialect: 'sqlite', file: '/var/lib/ironic/ironic.sqlite' }],
    ['sqlite+pysqlite:////x?timeout=5', { dialect: 'sqlite', file: '/x' }],
    ['mysql+pymysql://ironic:pw@db/ironic?charset=utf8', { ...mysql, user: 'ironic', password: 'pw' }],
    [
      'mysql+pymysql://ironic:p%40ss%2Fw%3A+x@db:3307/ironic',
      { ...mysql, port: 3307, user: 'ironic', password: 'p@ss/w:+x' },
    ],
    ['mysql://u:a:b@[::1]:33/ironic', { ...mysql, host: '::1', port: 33, user: 'u', password: 'a:b' }],
    [
      'mariadb+pymysql://u@/ironic?unix_socket=/run/m.sock',
      { ...mysql, host: 'localhost', user: 'u', socket: '/run/m.sock' },
    ],
    [
      'mysql+pymysql://db/ironic?ssl_ca=/ca.pem&connect_timeout=5',
      { ...mysql, tls: { ca: '/ca.pem', verify: true, checkHost: true }, connectTimeout: 5000 },
    ],
    [
      'mysql+pymysql://db/ironic?ssl_ca=/ca.pem&ssl_verify_cert=false',
      { ...mysql, tls: { ca: '/ca.pem', verify: false, checkHost: false } },
    ],
  ]
  for (const [url, expected] of cases) test(url, () => assert.deepEqual(readConnectionUrl(url), expected))

  for (const url of ['postgresql://u:secret@h/d', 'nonsense', 'sqlite:/x', 'mysql+pymysql://u:secret@h'])
    test(`${url} is refused without telling the password`, () => {
      assert.throws(
        () => readConnectionUrl(url),
        (error: Error) => {
          assert.match(error.message, /\[database\]connection/)
          assert.doesNotMatch(error.message, /secret/)
          return true
        },
      )
    })

  test('passwords are hidden', () => {
    assert.equal(withoutPassword('mysql+pymysql://u:se:cret@h/d'), 'mysql+pymysql://u:***@h/d')
  })
})

test('which constraint was broken', () => {
  const cases: readonly [unknown, readonly string[] | undefined][] = [
    [
      { errcode: 2067, message: 'UNIQUE constraint failed: volume_connectors.type, volume_connectors.connector_id' },
      ['type', 'connector_id'],
    ],
    [{ errno: 1062, message: "Duplicate entry 'x' for key 'uniq_nodes0instance_uuid'" }, ['instance_uuid']],
    [
      { errno: 1062, message: "Duplicate entry 'for key ''y' for key 'nodes.uniq_volumetargets0node_id0boot_index'" },
      ['node_id', 'boot_index'],
    ],
    [{ errno: 1062, message: "Duplicate entry '1-x' for key 'PRIMARY'" }, ['PRIMARY']],
    [{ errno: 1064, message: 'syntax' }, undefined],
    [new Error('x'), undefined],
  ]
  for (const [error, columns] of cases) assert.deepEqual(duplicateColumns(error), columns)
})

async function inFile(
  body: (path: string, open: (options?: DatabaseOptions) => ReturnType<typeof openDatabase>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'openkeel-sqlite-'))
  const path = join(folder, 'ironic.sqlite')
  const opened: Awaited<ReturnType<typeof openDatabase>>[] = []
  try {
    await body(path, async (options) => {
      const db = await openDatabase(`sqlite:///${path}`, options)
      opened.push(db)
      return db
    })
  } finally {
    for (const db of opened) await db.close()
    await rm(folder, { recursive: true, force: true })
  }
}

describe('SQLite in a file', () => {
  test('waits while another process writes, without holding up the event loop', () =>
    inFile(async (path, open) => {
      const db = await open()
      await createSchema(db)
      const { uuid } = await createNode(db, { name: 'n' })
      const other = new DatabaseSync(path)
      other.exec("BEGIN IMMEDIATE; UPDATE nodes SET owner = 'other'")
      let ticks = 0
      const ticking = setInterval(() => (ticks += 1), 10)
      const writing = createNode(db, { name: 'm' })
      assert.equal((await getNode(db, uuid!)).owner, null)
      await sleep(300)
      other.exec('COMMIT')
      other.close()
      await writing
      clearInterval(ticking)
      // a blocked loop would have had none of them before the other process let go
      assert.ok(ticks > 2, `${ticks} ticks`)
      assert.equal((await getNode(db, uuid!)).owner, 'other')
    }))

  test('opens while another process writes', () =>
    inFile(async (path, open) => {
      const other = new DatabaseSync(path)
      other.exec('CREATE TABLE x (y); BEGIN IMMEDIATE; INSERT INTO x VALUES (1)')
      const opening = open()
      await sleep(100)
      other.exec('COMMIT')
      other.close()
      assert.deepEqual((await (await opening).query<{ y: number }>('select y from x')).length, 1)
    }))

  test('a file that cannot be used is named', async () => {
    for (const path of ['/nowhere/at/all.sqlite', import.meta.filename])
      await assert.rejects(openDatabase(`sqlite:///${path}`), (error: Error) => {
        assert.equal(error.name, 'InvalidParameterValue')
        assert.ok(error.message.includes(path))
        return true
      })
  })

  test('gives up after the configured time', () =>
    inFile(async (path, open) => {
      const db = await open({ sqliteMaxWait: 0.1 })
      await createSchema(db)
      const other = new DatabaseSync(path)
      other.exec('BEGIN IMMEDIATE')
      await assert.rejects(createNode(db, {}), { name: 'TemporaryFailure' })
      other.exec('ROLLBACK')
      other.close()
      await createNode(db, {})
    }))

  test('readers see whole transactions only', () =>
    inFile(async (_path, open) => {
      const db = await open()
      await createSchema(db)
      await db.transaction(async (trx) => {
        await trx.insertInto('nodes').values({ uuid: 'x' }).execute()
        assert.equal((await listNodes(db)).length, 0)
      })
      assert.equal((await listNodes(db)).length, 1)
    }))

  test('what was written is there after the process ends without closing', () =>
    inFile(async (path, open) => {
      const db = await open()
      await createSchema(db)
      await createNode(db, { name: 'n' })
      // a second opener sees what a killed process would leave: database file and log
      const other = new DatabaseSync(path, { readOnly: true })
      assert.equal(other.prepare('select count(*) n from nodes').get()?.['n'], 1)
      other.close()
    }))

  test('many writers at once all get their turn', () =>
    inFile(async (_path, open) => {
      const [one, two] = [await open(), await open()]
      await createSchema(one)
      await Promise.all(Array.from({ length: 60 }, (_, n) => createNode(n % 2 === 0 ? one : two, { name: `n${n}` })))
      assert.equal((await listNodes(one)).length, 60)
    }))
})

describe('pinned to an older release', () => {
  test('rows are written so that it can read them', async () => {
    const db = await openDatabase('sqlite://', { pin: '2025.2' })
    await createSchema(db)
    const { id } = await createNode(db, { name: 'n', health: 'OK', instance_name: 'i', owner: 'me' })
    const [row] = await db.query<Record<string, unknown>>('select version, health, instance_name, owner from nodes')
    assert.deepEqual({ ...row }, { version: '1.42', health: null, instance_name: null, owner: 'me' })
    await updateNode(db, id, { extra: { a: 1 } })
    assert.equal((await db.query<{ version: string }>('select version from nodes'))[0]?.version, '1.42')
    await db.close()
  })

  test('rows of a younger release are refused, not misread', async () => {
    const db = await openDatabase('sqlite://')
    await createSchema(db)
    const { uuid } = await createNode(db, {})
    await db.sql.updateTable('nodes').set({ version: '1.99' }).execute()
    await assert.rejects(getNode(db, uuid!), { name: 'IncompatibleObjectVersion' })
    assert.deepEqual(await unreadableRows(db), [{ object: 'Node', table: 'nodes', count: 1 }])
    await db.close()
  })
})

test('a schema that is too old or too young is left alone', async () => {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  for (const [version, hint] of [
    ['3cb628139ea4', /older than 2024\.2/],
    ['ffffffffffff', /younger release/],
  ] as const) {
    await db.sql.updateTable('alembic_version').set({ version_num: version }).execute()
    await assert.rejects(upgrade(db), hint)
    assert.equal(await schemaVersion(db), version)
  }
  await assert.rejects(stamp(db, 'ffffffffffff'), /no schema revision/)
  await stamp(db)
  assert.deepEqual((await upgrade(db)).applied, [])
  await db.close()
})
