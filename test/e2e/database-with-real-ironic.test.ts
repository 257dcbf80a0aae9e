/**
 * One database, two implementations: what real Ironic 39.0.0 made and wrote is served by us, and the other way round, on MariaDB and on
 * SQLite.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import * as allocations from '../../src/db/allocations.ts'
import * as bios from '../../src/db/bios-settings.ts'
import * as chassis from '../../src/db/chassis.ts'
import * as conductors from '../../src/db/conductors.ts'
import { type Db, openDatabase } from '../../src/db/database.ts'
import * as templates from '../../src/db/deploy-templates.ts'
import * as firmware from '../../src/db/firmware.ts'
import * as rules from '../../src/db/inspection-rules.ts'
import { createSchema, schemaVersion, unreadableRows, upgrade } from '../../src/db/migrations/index.ts'
import * as history from '../../src/db/node-history.ts'
import * as inventory from '../../src/db/node-inventory.ts'
import * as nodes from '../../src/db/nodes.ts'
import * as portgroups from '../../src/db/portgroups.ts'
import * as ports from '../../src/db/ports.ts'
import * as runbooks from '../../src/db/runbooks.ts'
import * as traits from '../../src/db/traits.ts'
import * as connectors from '../../src/db/volume-connectors.ts'
import * as targets from '../../src/db/volume-targets.ts'
import { ironicConfig, type IronicDb, startIronicDb } from '../peers/ironic-db.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'
import { ironicPeer, runPeer } from '../peers/python.ts'
import { readMysqlSchema } from '../peers/schema-reader.ts'

type Data = Record<string, unknown>

/** Our object as Python's `as_dict` of it was printed. */
function printed(value: unknown): unknown {
  if (value instanceof Date) return `${value.toISOString().slice(0, 19)}Z`
  if (Array.isArray(value)) return value.map(printed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, printed(each)]))
}

const without = (data: unknown, ...names: string[]) =>
  Object.fromEntries(Object.entries(data as Data).filter(([name]) => !names.includes(name)))

const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`

const nodeValues = {
  uuid: uuid(1),
  name: 'näme',
  driver: 'redfish',
  driver_info: { redfish_address: 'https://bmc', deep: { list: [1, 2.5, null, true, 'x"\\'] } },
  properties: { memory_mb: '1024', capabilities: 'boot_mode:uefi' },
  extra: { 'key with %': 'value %s :x ? 🚀' },
  owner: 'me',
  lessee: 'you',
  conductor_group: 'rack1',
  resource_class: 'baremetal',
  maintenance: true,
  maintenance_reason: 'because',
  automated_clean: false,
  protected: true,
  network_data: { links: [] },
  description: 'long '.repeat(200),
  shard: 's1',
  instance_name: 'i',
  boot_interface: 'redfish-virtual-media',
  secure_boot: null,
  health: 'OK',
}

async function both(venv: string, url: string): Promise<{ ours: Db; real: IronicDb }> {
  const [ours, real] = await Promise.all([openDatabase(url), startIronicDb(venv, url)])
  return { ours, real }
}

for (const dialect of ['MariaDB', 'SQLite'] as const)
  describe(dialect, () => {
    let venv: string
    let server: Mariadb | undefined
    let folder: string
    const fresh = async (name: string) =>
      server === undefined ? `sqlite:///${join(folder, `${name}.sqlite`)}` : await server.createDatabase(name)
    const dbsync = async (url: string, ...args: string[]) => {
      const config = await ironicConfig(url)
      try {
        return await runPeer(venv, 'ironic-dbsync', ['--config-file', config.file, ...args])
      } finally {
        await config.remove()
      }
    }

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'openkeel-real-db-'))
      venv = await ironicPeer()
      if (dialect === 'MariaDB') server = await startMariadb()
    })
    after(async () => {
      await server?.stop()
      await rm(folder, { recursive: true, force: true })
    })

    test('what real ironic-dbsync made is ours to serve; what real Ironic wrote reads the same', async () => {
      const url = await fresh('theirs')
      await dbsync(url, ...(dialect === 'MariaDB' ? ['upgrade'] : ['create_schema']))
      const { ours, real } = await both(venv, url)
      try {
        assert.deepEqual((await upgrade(ours)).applied, [])
        if (server !== undefined) {
          const copy = await openDatabase(await server.createDatabase('ours_upgraded'))
          await upgrade(copy)
          await copy.close()
          assert.deepEqual(await readMysqlSchema(server, 'ours_upgraded'), await readMysqlSchema(server, 'theirs'))
        }
        const wrote = await real.do('create', ['Node', nodeValues])
        await real.do('call', ['set_node_traits', wrote['id'], ['CUSTOM_B', 'CUSTOM_A'], '1.1'])
        const read = await nodes.getNode(ours, uuid(1))
        assert.deepEqual(without(printed(read), 'traits'), without(wrote, 'traits'))
        assert.deepEqual(
          read.traits?.map((each) => each['trait'] as string),
          ['CUSTOM_A', 'CUSTOM_B'],
        )
        assert.equal((await nodes.getNode(ours, nodeValues.name)).uuid, uuid(1))

        const id = read.id
        const pairs: [Data, unknown][] = []
        const pair = async (kind: string, values: Data, ourRead: (its: string) => Promise<unknown>) => {
          const theirs = await real.do('create', [kind, values])
          pairs.push([theirs, printed(await ourRead(String(theirs['uuid'])))])
        }
        await pair('Chassis', { uuid: uuid(2), description: 'd' }, (its) => chassis.getChassis(ours, its))
        await pair(
          'Portgroup',
          { uuid: uuid(3), node_id: id, name: 'pg', mode: 'x', address: '52:54:00:00:00:01' },
          (its) => portgroups.getPortgroup(ours, its),
        )
        await pair(
          'Port',
          { uuid: uuid(4), node_id: id, address: '52:54:00:00:00:02', local_link_connection: { switch_id: 'x' } },
          (its) => ports.getPort(ours, its),
        )
        await pair(
          'Allocation',
          { uuid: uuid(5), name: 'a', resource_class: 'x', candidate_nodes: [uuid(1)], state: 'error' },
          (its) => allocations.getAllocation(ours, its),
        )
        await pair('VolumeConnector', { uuid: uuid(6), node_id: id, type: 'iqn', connector_id: 'iqn.1' }, (its) =>
          connectors.getVolumeConnector(ours, its),
        )
        await pair(
          'VolumeTarget',
          { uuid: uuid(7), node_id: id, volume_type: 'iscsi', boot_index: 0, volume_id: 'v' },
          (its) => targets.getVolumeTarget(ours, its),
        )
        await pair(
          'InspectionRule',
          { uuid: uuid(8), actions: [{ op: 'fail', args: { msg: 'm' } }], conditions: [] },
          (its) => rules.getInspectionRule(ours, its),
        )
        for (const [theirs, mine] of pairs) assert.deepEqual(mine, theirs)

        const steps = [{ interface: 'bios', step: 'x', args: { a: 1 }, priority: 5 }]
        await real.do('create', ['DeployTemplate', { uuid: uuid(9), name: 'CUSTOM_T', steps, extra: {} }])
        assert.deepEqual((await templates.getDeployTemplate(ours, 'CUSTOM_T')).steps, steps)
        const runbookSteps = [{ interface: 'bios', step: 'x', args: {}, order: 1 }]
        await real.do('create', [
          'Runbook',
          { uuid: uuid(10), name: 'CUSTOM_R', steps: runbookSteps, traits: ['CUSTOM_R'], extra: {} },
        ])
        const book = await runbooks.getRunbook(ours, uuid(10))
        assert.deepEqual([book.steps, book.traits], [runbookSteps, ['CUSTOM_R']])

        await real.do('call', [
          'register_conductor',
          { hostname: 'real', drivers: ['redfish'], conductor_group: 'g', version: '1.6' },
        ])
        const conductor = await conductors.getConductor(ours, 'real')
        assert.deepEqual([conductor.online, conductor.drivers, conductor.conductor_group], [true, ['redfish'], 'g'])
        assert.equal((await conductors.onlineConductors(ours, 60)).length, 1)
        await real.do('reserve', ['real', uuid(1)])
        await assert.rejects(nodes.reserveNode(ours, uuid(1), 'ours'), { name: 'NodeLocked' })
        await real.do('release', ['real', id])
        await nodes.reserveNode(ours, uuid(1), 'ours')
        await assert.rejects(real.do('reserve', ['real', uuid(1)]), { name: 'NodeLocked' })
        await nodes.releaseNode(ours, 'ours', id)
        assert.deepEqual(await unreadableRows(ours), [])
      } finally {
        await Promise.all([ours.close(), real.stop()])
      }
    })

    test('what we made real Ironic takes; what we wrote it reads and writes on', async () => {
      const url = await fresh('ours')
      const own = await openDatabase(url)
      await createSchema(own)
      await own.close()
      assert.equal((await dbsync(url, 'version')).trim().split('\n').at(-1), '9fb44677ef15')
      const { ours, real } = await both(venv, url)
      try {
        await conductors.registerConductor(ours, { hostname: 'ours', drivers: ['redfish'], conductor_group: 'rack1' })
        const { id: conductorId } = await conductors.getConductor(ours, 'ours')
        await conductors.registerHardwareInterfaces(ours, conductorId, [
          { hardware_type: 'redfish', interface_type: 'power', interface_name: 'redfish', default: true },
        ])
        const box = await chassis.createChassis(ours, { uuid: uuid(2), description: 'd' })
        const node = await nodes.createNode(ours, {
          ...nodeValues,
          chassis_id: box.id,
          conductor_affinity: conductorId,
        })
        await traits.setTraits(ours, node.id, ['CUSTOM_A', 'CUSTOM_B'])
        await nodes.updateNode(ours, node.id, { provision_state: 'inspecting', power_state: 'power on' })
        const finished = await nodes.updateNode(ours, node.id, { provision_state: 'manageable' })
        const read = await real.do('get', ['Node', uuid(1)])
        assert.deepEqual(without(read, 'traits'), without(printed(finished), 'traits'))
        const names = ((read['traits'] as Data)['objects'] as Data[]).map((each) => String(each['trait']))
        assert.deepEqual(names.toSorted(), ['CUSTOM_A', 'CUSTOM_B'])

        const same = async (kind: string, mine: { uuid: string | null }) =>
          assert.deepEqual(await real.do('get', [kind, mine.uuid]), printed(mine), kind)
        const node_id = node.id
        await same('Chassis', box)
        await same(
          'Portgroup',
          await portgroups.createPortgroup(ours, {
            uuid: uuid(3),
            node_id,
            name: 'pg',
            mode: 'x',
            address: '52:54:00:00:00:01',
          }),
        )
        await same(
          'Port',
          await ports.createPort(ours, {
            uuid: uuid(4),
            node_id,
            address: '52:54:00:00:00:02',
            internal_info: { a: 1 },
          }),
        )
        await same(
          'Allocation',
          await allocations.createAllocation(ours, { uuid: uuid(5), name: 'a', resource_class: 'x' }),
        )
        await same(
          'VolumeConnector',
          await connectors.createVolumeConnector(ours, { uuid: uuid(6), node_id, type: 'iqn', connector_id: 'iqn.1' }),
        )
        await same(
          'VolumeTarget',
          await targets.createVolumeTarget(ours, {
            uuid: uuid(7),
            node_id,
            volume_type: 'iscsi',
            boot_index: 0,
            volume_id: 'v',
          }),
        )
        await same(
          'InspectionRule',
          await rules.createInspectionRule(ours, { uuid: uuid(8), actions: [{ op: 'fail' }] }),
        )
        await same(
          'NodeHistory',
          await history.getNodeHistory(
            ours,
            await history.createNodeHistory(ours, {
              node_id,
              event: 'e',
              severity: 'ERROR',
              conductor: 'ours',
              user: 'u',
            }),
          ),
        )

        const steps = [{ interface: 'bios', step: 'x', args: { a: 1 }, priority: 5 }]
        await templates.createDeployTemplate(ours, { uuid: uuid(9), name: 'CUSTOM_T', steps })
        const template = await real.do('get', ['DeployTemplate', uuid(9)])
        const [step] = template['steps'] as Data[]
        assert.deepEqual([step?.['interface'], step?.['args'], step?.['priority']], ['bios', { a: 1 }, 5])
        const runbook = {
          uuid: uuid(10),
          name: 'CUSTOM_R',
          steps: [{ interface: 'bios', step: 'x', args: {}, order: 1 }],
        }
        await runbooks.createRunbook(ours, { ...runbook, traits: ['CUSTOM_Q'] })
        assert.deepEqual((await real.do('get', ['Runbook', uuid(10)]))['traits'], ['CUSTOM_Q'])

        await bios.syncBiosSettings(ours, node_id, [
          { name: 'ProcVirt', value: 'on', allowable_values: ['on', 'off'], read_only: false },
        ])
        const [setting] = await real.do<Data[]>('rows', ['get_bios_setting_list', node_id])
        assert.deepEqual(
          [setting?.['value'], setting?.['allowable_values'], setting?.['read_only']],
          ['on', ['on', 'off'], false],
        )
        await firmware.syncFirmwareComponents(ours, node_id, [
          { component: 'bmc', initial_version: '1', current_version: '2' },
        ])
        const [component] = await real.do<Data[]>('rows', ['get_firmware_component_list', node_id])
        assert.equal(component?.['current_version'], '2')
        await inventory.storeNodeInventory(ours, node_id, { inventory_data: { cpu: { count: 4 } }, plugin_data: {} })

        assert.equal(await real.do('check_versions'), true)
        const saved = await real.do('save', ['Node', uuid(1), { extra: { changed: true }, maintenance: false }])
        assert.equal(saved['maintenance'], false)
        assert.deepEqual((await nodes.getNode(ours, uuid(1))).extra, { changed: true })
        await real.do('call', ['destroy_node', uuid(1)])
        await assert.rejects(nodes.getNode(ours, uuid(1)), { name: 'NodeNotFound' })
        assert.equal(await schemaVersion(ours), '9fb44677ef15')
      } finally {
        await Promise.all([ours.close(), real.stop()])
      }
      // nothing to do for real Ironic's own tools
      await dbsync(url, 'upgrade')
      assert.match(await dbsync(url, 'online_data_migrations'), /completed/)
    })

    test('filters and sort keys choose the same nodes in the same order', async () => {
      const url = await fresh('lists')
      const own = await openDatabase(url)
      await createSchema(own)
      const box = await chassis.createChassis(own, {})
      const pick = <T>(values: readonly T[], n: number) => values[n % values.length]!
      const uuids: string[] = []
      for (let n = 0; n < 24; n += 1) {
        const { uuid: its } = await nodes.createNode(own, {
          name: n % 5 === 0 ? null : `n${(n * 7) % 24}`,
          owner: pick(['b', null, 'a', 'B', null, 'c'], n),
          lessee: pick(['a', null, null, null], n),
          provision_state: pick(['available', 'active', 'enroll', 'inspecting', 'deploy failed', 'manageable'], n),
          maintenance: n % 3 === 0,
          retired: n % 7 === 0,
          resource_class: pick([null, 'x'], n),
          shard: pick([null, 's1', 's2'], n),
          driver: pick(['ipmi', 'redfish'], n),
          conductor_group: pick(['g', '', '', ''], n),
          parent_node: n > 20 ? uuids[0]! : null,
          description: n % 3 === 0 ? null : `desc ${n} 50% x_y`,
          chassis_id: n % 5 === 1 ? box.id : null,
          power_state: pick([null, 'power on'], n),
          reservation: n % 6 === 1 ? 'h1' : null,
          fault: n % 8 === 0 ? 'power failure' : null,
          console_enabled: n % 9 === 0,
          provision_updated_at: new Date(Date.now() - n * 60_000),
          instance_uuid: n % 6 === 2 ? uuid(100 + n) : null,
        })
        uuids.push(its!)
      }
      await own.close()
      const { ours, real } = await both(venv, url)
      try {
        const filters: readonly nodes.NodeFilters[] = [
          {},
          { maintenance: true },
          { retired: true },
          { owner: 'a' },
          { owner: null },
          { lessee: 'a' },
          { project: 'a' },
          { provision_state: 'active' },
          { provision_state_in: ['active', 'enroll'] },
          { shard_in: ['s1'] },
          { sharded: true },
          { sharded: false },
          { associated: true },
          { associated: false },
          { reserved: true },
          { reserved_by_any_of: ['h1'] },
          { with_power_state: true },
          { chassis_uuid: box.uuid! },
          { description_contains: '50%' },
          { include_children: true },
          { parent_node: uuids[0]! },
          { fault: 'power failure' },
          { console_enabled: true },
          { driver: 'ipmi', maintenance: false },
          { conductor_group: 'g' },
          { resource_class: 'x' },
          { uuid_in: uuids.slice(0, 3) },
          { provisioned_before: 300 },
        ]
        const ids = (list: readonly { id?: unknown }[]) => list.map((each) => Number(each.id))
        for (const filter of filters)
          for (const [sortKey, sortDir] of [
            ['id', 'asc'],
            ['name', 'asc'],
            ['owner', 'desc'],
            ['provision_state', 'asc'],
          ] as const) {
            const theirs = await real.do<Data[]>('listed', ['Node'], {
              filters: filter,
              sort_key: sortKey,
              sort_dir: sortDir,
            })
            const mine = await nodes.listNodes(ours, { filters: filter, sortKey, sortDir })
            assert.deepEqual(ids(mine), ids(theirs), JSON.stringify([filter, sortKey, sortDir]))
          }
        for (const sortKey of ['id', 'uuid', 'created_at'])
          for (const sortDir of ['asc', 'desc'] as const) {
            const page = { limit: 5, marker: uuids[9]! }
            const theirs = await real.do<Data[]>('listed', ['Node'], { ...page, sort_key: sortKey, sort_dir: sortDir })
            const mine = await nodes.listNodes(ours, { ...page, sortKey, sortDir })
            assert.deepEqual(ids(mine), ids(theirs), `${sortKey} ${sortDir}`)
          }
      } finally {
        await Promise.all([ours.close(), real.stop()])
      }
    })
  })
