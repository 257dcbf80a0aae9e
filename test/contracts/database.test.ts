/** The same promises from every database: SQLite in memory, SQLite in a file, a real MariaDB. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openDatabase, type Db, type DatabaseOptions } from '../../src/db/database.ts'
import { createSchema, schemaVersion } from '../../src/db/migrations/index.ts'
import * as nodes from '../../src/db/nodes.ts'
import * as ports from '../../src/db/ports.ts'
import * as conductors from '../../src/db/conductors.ts'
import * as traits from '../../src/db/traits.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'

interface Place {
  readonly name: string
  open(): Promise<void>
  /** URL of a new empty database */
  fresh(): Promise<string>
  close(): Promise<void>
}

function mariadb(): Place {
  let server: Mariadb
  let count = 0
  return {
    name: 'MariaDB',
    open: async () => {
      server = await startMariadb()
    },
    fresh: () => server.createDatabase(`contract${(count += 1)}`),
    close: () => server.stop(),
  }
}

function sqliteFile(): Place {
  let folder: string
  let count = 0
  return {
    name: 'SQLite in a file',
    open: async () => {
      folder = await mkdtemp(join(tmpdir(), 'openkeel-db-'))
    },
    fresh: async () => `sqlite:///${join(folder, `${(count += 1)}.sqlite`)}`,
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

const places: readonly Place[] = [
  {
    name: 'SQLite in memory',
    open: async () => undefined,
    fresh: async () => 'sqlite://',
    close: async () => undefined,
  },
  sqliteFile(),
  mariadb(),
]

for (const place of places)
  describe(place.name, () => {
    const open: Db[] = []
    before(() => place.open())
    after(async () => {
      for (const db of open) await db.close()
      await place.close()
    })
    async function database(options: DatabaseOptions = {}): Promise<Db> {
      const db = await openDatabase(await place.fresh(), options)
      open.push(db)
      await createSchema(db)
      return db
    }

    test('the schema is stamped and made once', async () => {
      const db = await database()
      assert.equal(await schemaVersion(db), '9fb44677ef15')
      await assert.rejects(createSchema(db), /already has a schema/)
    })

    test('values come back as they went in', async () => {
      const now = new Date('2026-01-02T03:04:05.000Z')
      const db = await database({ clock: { now: () => now } })
      const values = {
        name: 'näme',
        driver_info: { text: `quote ' " \\ 🚀`, deep: [{ a: null, b: [1.5, true] }] },
        maintenance: true,
        maintenance_reason: "it's broken; drop table nodes; -- \\",
        automated_clean: null,
        secure_boot: false,
        inspection_started_at: new Date('2026-02-03T04:05:06Z'),
        instance_info: { blob: 'x'.repeat(100_000) },
      }
      const made = await nodes.createNode(db, values)
      const read = await nodes.getNode(db, made.uuid!)
      for (const [name, value] of Object.entries(values)) assert.deepEqual(read[name as keyof typeof read], value, name)
      assert.deepEqual(read.created_at, now)
      assert.equal(read.updated_at, null)
    })

    test('broken constraints are declared errors', async () => {
      const db = await database()
      const first = await nodes.createNode(db, { name: 'a', instance_uuid: '3f1b1c6e-94e5-4f1e-9f5c-3d2a4a7f0c11' })
      const second = await nodes.createNode(db, { name: 'b' })
      await assert.rejects(nodes.createNode(db, { name: 'a' }), { name: 'DuplicateName' })
      await assert.rejects(nodes.createNode(db, { uuid: first.uuid }), { name: 'NodeAlreadyExists' })
      await assert.rejects(nodes.updateNode(db, second.id, { instance_uuid: first.instance_uuid }), {
        name: 'InstanceAssociated',
      })
      await assert.rejects(nodes.updateNode(db, second.uuid!, { name: 'a' }), { name: 'DuplicateName' })
      await ports.createPort(db, { node_id: first.id, address: '52:54:00:00:00:01', name: 'p' })
      await assert.rejects(ports.createPort(db, { node_id: first.id, address: '52:54:00:00:00:01' }), {
        name: 'MACAlreadyExists',
      })
      await assert.rejects(ports.createPort(db, { node_id: first.id, address: '52:54:00:00:00:02', name: 'p' }), {
        name: 'PortDuplicateName',
      })
    })

    test('of many that reach for a lock one gets it', async () => {
      const db = await database()
      const { uuid } = await nodes.createNode(db, {})
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, host) => nodes.reserveNode(db, uuid!, `host-${host}`)),
      )
      const winners = results.filter((each) => each.status === 'fulfilled')
      assert.equal(winners.length, 1)
      for (const each of results)
        if (each.status === 'rejected') assert.equal((each.reason as Error).name, 'NodeLocked')
      const holder = (await nodes.getNode(db, uuid!)).reservation!
      assert.equal(winners[0]?.value.reservation, holder)
      await nodes.releaseNode(db, holder, uuid!)
    })

    test('a transaction that throws leaves nothing', async () => {
      const db = await database()
      await assert.rejects(
        db.transaction(async (trx) => {
          await trx.insertInto('chassis').values({ uuid: 'x' }).execute()
          throw new Error('no')
        }),
        /no/,
      )
      assert.deepEqual(await db.query('select * from chassis'), [])
    })

    test('traits are a set of at most fifty', async () => {
      const db = await database()
      const { id } = await nodes.createNode(db, {})
      await traits.setTraits(db, id, ['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_B'])
      await traits.addTrait(db, id, 'CUSTOM_A')
      assert.deepEqual(
        (await traits.listTraits(db, id)).map((each) => each.trait),
        ['CUSTOM_A', 'CUSTOM_B'],
      )
      await assert.rejects(
        traits.setTraits(
          db,
          id,
          Array.from({ length: 51 }, (_, n) => `T${n}`),
        ),
        {
          name: 'InvalidParameterValue',
        },
      )
      await assert.rejects(traits.removeTrait(db, id, 'CUSTOM_C'), { name: 'NodeTraitNotFound' })
      await assert.rejects(traits.listTraits(db, 999), { name: 'NodeNotFound' })
    })

    test('conductors register, beat and go', async () => {
      let now = new Date('2026-01-02T03:04:05Z')
      const db = await database({ clock: { now: () => now } })
      const { id } = await conductors.registerConductor(db, {
        hostname: 'c1',
        drivers: ['redfish'],
        conductor_group: 'g',
      })
      await assert.rejects(conductors.registerConductor(db, { hostname: 'c1', drivers: [] }), {
        name: 'ConductorAlreadyRegistered',
      })
      const power = { hardware_type: 'redfish', interface_type: 'power', interface_name: 'redfish', default: true }
      await conductors.registerHardwareInterfaces(db, id, [power])
      await assert.rejects(conductors.registerHardwareInterfaces(db, id, [power]), {
        name: 'ConductorHardwareInterfacesAlreadyRegistered',
      })
      const hosts = () => conductors.activeDriverHosts(db, 60)
      assert.deepEqual(await hosts(), [{ hardware_type: 'redfish', hostname: 'c1', conductor_group: 'g' }])
      now = new Date('2026-01-02T03:06:00Z')
      // a single process of SQLite never finds itself dead
      assert.equal((await hosts()).length, db.dialect === 'sqlite' ? 1 : 0)
      await conductors.touchConductor(db, 'c1')
      assert.equal((await hosts()).length, 1)
      await conductors.unregisterConductor(db, 'c1')
      assert.equal((await hosts()).length, 0)
      await assert.rejects(conductors.unregisterConductor(db, 'c1'), { name: 'ConductorNotFound' })
      const { uuid } = await nodes.createNode(db, {
        reservation: 'c1',
        conductor_affinity: id,
        target_power_state: 'power on',
      })
      await conductors.deleteConductor(db, 'c1')
      const node = await nodes.getNode(db, uuid!)
      assert.deepEqual([node.reservation, node.conductor_affinity, node.target_power_state], [null, null, null])
    })
  })
