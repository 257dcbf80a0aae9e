/** The smaller tables, on every database. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as allocations from '../../src/db/allocations.ts'
import * as bios from '../../src/db/bios-settings.ts'
import * as chassis from '../../src/db/chassis.ts'
import * as conductors from '../../src/db/conductors.ts'
import { openDatabase, type Db } from '../../src/db/database.ts'
import * as templates from '../../src/db/deploy-templates.ts'
import * as firmware from '../../src/db/firmware.ts'
import * as rules from '../../src/db/inspection-rules.ts'
import { createSchema } from '../../src/db/migrations/index.ts'
import * as history from '../../src/db/node-history.ts'
import * as inventory from '../../src/db/node-inventory.ts'
import * as tags from '../../src/db/node-tags.ts'
import * as nodes from '../../src/db/nodes.ts'
import * as portgroups from '../../src/db/portgroups.ts'
import * as ports from '../../src/db/ports.ts'
import * as runbooks from '../../src/db/runbooks.ts'
import * as connectors from '../../src/db/volume-connectors.ts'
import * as targets from '../../src/db/volume-targets.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'

let server: Mariadb
before(async () => {
  server = await startMariadb()
})
after(() => server.stop())

for (const dialect of ['sqlite', 'mysql'] as const)
  describe(dialect, () => {
    let db: Db
    let node: Awaited<ReturnType<typeof nodes.createNode>>
    before(async () => {
      db = await openDatabase(dialect === 'sqlite' ? 'sqlite://' : await server.createDatabase('tables'))
      await createSchema(db)
      node = await nodes.createNode(db, { name: 'n', owner: 'me', shard: 's1', conductor_group: 'g' })
    })
    after(() => db.close())

    test('ports and portgroups carry the uuid of their node and are filtered by it', async () => {
      const other = await nodes.createNode(db, { name: 'other', lessee: 'you', shard: 's2' })
      const group = await portgroups.createPortgroup(db, {
        node_id: node.id,
        name: 'bond',
        mode: 'active-backup',
        address: '52:54:00:00:01:00',
      })
      assert.equal(group.node_uuid, node.uuid)
      assert.equal(group.standalone_ports_supported, true)
      const port = await ports.createPort(db, {
        node_id: node.id,
        portgroup_id: group.id,
        address: '52:54:00:00:01:01',
        description: 'upper left',
      })
      await ports.createPort(db, { node_id: other.id, address: '52:54:00:00:01:02' })
      assert.equal(port.node_uuid, node.uuid)
      assert.equal(port.pxe_enabled, true)
      const found = async (filters: ports.PortFilters) =>
        (await ports.listPorts(db, { filters })).map((each) => each.address)
      assert.deepEqual(await found({ project: 'me' }), ['52:54:00:00:01:01'])
      assert.deepEqual(await found({ project: 'you' }), ['52:54:00:00:01:02'])
      assert.deepEqual(await found({ shards: ['s1', 's2'] }), ['52:54:00:00:01:01', '52:54:00:00:01:02'])
      assert.deepEqual(await found({ shards: [] }), [])
      assert.deepEqual(await found({ conductor_groups: ['g'] }), ['52:54:00:00:01:01'])
      assert.deepEqual(await found({ description_contains: 'left' }), ['52:54:00:00:01:01'])
      assert.deepEqual(await found({ node_uuid: other.uuid!, owner: 'me' }), [])
      assert.equal((await ports.getPort(db, '52:54:00:00:01:02')).node_uuid, other.uuid)
      assert.deepEqual(
        (await nodes.findNodesByPortAddresses(db, ['52:54:00:00:01:01', '52:54:00:00:01:02'])).map((each) => each.name),
        ['n', 'other'],
      )
      const page = await ports.listPorts(db, { sortKey: 'address', sortDir: 'desc', limit: 1 })
      assert.equal(page[0]?.address, '52:54:00:00:01:02')
      const next = await ports.listPorts(db, { sortKey: 'address', sortDir: 'desc', marker: page[0]?.uuid ?? '' })
      assert.deepEqual(
        next.map((each) => each.address),
        ['52:54:00:00:01:01'],
      )
      await assert.rejects(portgroups.destroyPortgroup(db, group.uuid!), { name: 'PortgroupNotEmpty' })
      await ports.destroyPort(db, port.uuid!)
      await portgroups.destroyPortgroup(db, group.uuid!)
      await assert.rejects(portgroups.getPortgroup(db, 'bond'), { name: 'PortgroupNotFound' })
    })

    test('chassis with nodes stay', async () => {
      const box = await chassis.createChassis(db, { description: 'rack 1' })
      const inside = await nodes.createNode(db, { chassis_id: box.id })
      await assert.rejects(chassis.destroyChassis(db, box.uuid!), { name: 'ChassisNotEmpty' })
      assert.deepEqual([...(await chassis.chassisUuids(db, [box.id, null, box.id]))], [[box.id, box.uuid]])
      assert.deepEqual(
        (await nodes.listNodes(db, { filters: { chassis_uuid: box.uuid! } })).map((each) => each.id),
        [inside.id],
      )
      await nodes.destroyNode(db, inside.id)
      await chassis.destroyChassis(db, box.uuid!)
    })

    test('an allocation takes a node and gives it back', async () => {
      const first = await allocations.createAllocation(db, {
        name: 'a1',
        resource_class: 'x',
        traits: ['CUSTOM_A'],
        candidate_nodes: [],
      })
      assert.equal(first.state, 'allocating')
      await allocations.updateAllocation(db, first.id, { node_id: node.id, state: 'active' })
      const taken = await nodes.getNodeById(db, node.id)
      assert.equal(taken.allocation_id, first.id)
      assert.equal(taken.instance_uuid, first.uuid)
      assert.deepEqual(taken.instance_info, { traits: ['CUSTOM_A'] })
      const second = await allocations.createAllocation(db, { name: 'a2' })
      await assert.rejects(allocations.updateAllocation(db, second.id, { node_id: node.id }), {
        name: 'NodeAssociated',
      })
      await assert.rejects(allocations.createAllocation(db, { name: 'a1' }), { name: 'AllocationDuplicateName' })
      assert.deepEqual(
        (await allocations.listAllocations(db, { filters: { node_uuid: node.uuid! } })).map((each) => each.name),
        ['a1'],
      )
      assert.equal(await allocations.takeOverAllocation(db, second.id, null, 7), true)
      assert.equal(await allocations.takeOverAllocation(db, second.id, null, 8), false)
      await allocations.destroyAllocation(db, first.uuid!)
      assert.equal((await nodes.getNodeById(db, node.id)).instance_uuid, null)
    })

    test('templates and runbooks keep their steps and traits', async () => {
      const steps = [
        { interface: 'raid', step: 'create_configuration', args: { a: 1 }, priority: 10 },
        { interface: 'bios', step: 'apply_configuration', args: {}, priority: 5 },
      ]
      const template = await templates.createDeployTemplate(db, { name: 'CUSTOM_T', steps })
      assert.deepEqual(template.steps, steps)
      await assert.rejects(templates.createDeployTemplate(db, { name: 'CUSTOM_T', steps: [] }), {
        name: 'DeployTemplateDuplicateName',
      })
      assert.deepEqual(
        (await templates.updateDeployTemplate(db, template.uuid, { steps: steps.slice(1) })).steps,
        steps.slice(1),
      )
      assert.deepEqual(
        (await templates.listDeployTemplatesByNames(db, ['CUSTOM_T', 'x'])).map((each) => each.id),
        [template.id],
      )
      await templates.destroyDeployTemplate(db, template.id)
      assert.deepEqual(await db.query('select * from deploy_template_steps'), [])

      const order = [{ interface: 'raid', step: 'x', args: {}, order: 1 }]
      const book = await runbooks.createRunbook(db, {
        name: 'CUSTOM_R',
        steps: order,
        traits: ['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_B'],
        owner: 'me',
      })
      assert.deepEqual(book.steps, order)
      assert.deepEqual(book.traits, ['CUSTOM_A', 'CUSTOM_B'])
      assert.equal(book.public, false)
      await runbooks.createRunbook(db, { name: 'CUSTOM_P', steps: order, public: true })
      const seen = async (project: string) =>
        (await runbooks.listRunbooks(db, { filters: { project } })).map((each) => each.name)
      assert.deepEqual(await seen('me'), ['CUSTOM_R', 'CUSTOM_P'])
      assert.deepEqual(await seen('you'), ['CUSTOM_P'])
      await runbooks.addRunbookTrait(db, book.id, 'CUSTOM_A')
      await runbooks.removeRunbookTrait(db, book.id, 'CUSTOM_A')
      await assert.rejects(runbooks.removeRunbookTrait(db, book.id, 'CUSTOM_A'), { name: 'RunbookTraitNotFound' })
      await runbooks.destroyRunbook(db, book.uuid)
      await assert.rejects(runbooks.getRunbook(db, 'CUSTOM_R'), { name: 'RunbookNotFound' })
    })

    test('inspection rules', async () => {
      const rule = await rules.createInspectionRule(db, {
        actions: [{ op: 'fail', args: { msg: 'no' } }],
        conditions: [],
        priority: 5,
      })
      assert.equal(rule.phase, 'main')
      assert.equal(rule.sensitive, false)
      assert.equal((await rules.listInspectionRules(db, { filters: { phase: 'main' } })).length, 1)
      assert.equal((await rules.updateInspectionRule(db, rule.uuid, { sensitive: true })).sensitive, true)
      await rules.destroyInspectionRule(db, rule.uuid)
      await assert.rejects(rules.getInspectionRule(db, rule.uuid), { name: 'InspectionRuleNotFound' })
    })

    test('BIOS settings follow the BMC', async () => {
      const one = {
        name: 'a',
        value: '1',
        attribute_type: 'Integer',
        lower_bound: 0,
        upper_bound: 2 ** 40,
        read_only: false,
        allowable_values: null,
      }
      await bios.applyBiosSettings(db, node.id, [one, { name: 'b', value: 'x', allowable_values: ['x', 'y'] }])
      const changes = await bios.syncBiosSettings(db, node.id, [
        { ...one, value: '2' },
        { name: 'c', value: null },
      ])
      assert.deepEqual(changes, { created: ['c'], updated: ['a'], deleted: ['b'] })
      const setting = await bios.getBiosSetting(db, node.id, 'a')
      assert.equal(setting.value, '2')
      assert.equal(setting.upper_bound, 2 ** 40)
      assert.equal(setting.node_id, String(node.id))
      const edge = 2 ** 63
      await bios.applyBiosSettings(db, node.id, [{ name: 'edge', value: '1', lower_bound: -edge, upper_bound: edge }])
      const { lower_bound, upper_bound } = await bios.getBiosSetting(db, node.id, 'edge')
      assert.deepEqual([lower_bound, upper_bound], [-edge, edge])
      await assert.rejects(bios.deleteBiosSettings(db, node.id, ['a', 'z']), { name: 'BIOSSettingListNotFound' })
      await bios.deleteBiosSettings(db, node.id)
      assert.deepEqual(await bios.listBiosSettings(db, node.id), [])
    })

    test('firmware keeps the initial version', async () => {
      const tell = (version: string) => [{ component: 'bmc', initial_version: version, current_version: version }]
      await firmware.syncFirmwareComponents(db, node.id, tell('1'))
      await firmware.syncFirmwareComponents(db, node.id, tell('2'))
      const [bmc] = await firmware.listFirmwareComponents(db, node.id)
      assert.deepEqual([bmc?.initial_version, bmc?.current_version], ['1', '2'])
      await assert.rejects(firmware.createFirmwareComponent(db, node.id, { component: 'bmc', initial_version: '1' }), {
        name: 'FirmwareComponentAlreadyExists',
      })
    })

    test('volumes are unique where they must be', async () => {
      const connector = { node_id: node.id, type: 'iqn', connector_id: 'iqn.2017-08.org.openstack:1' }
      await connectors.createVolumeConnector(db, connector)
      await assert.rejects(connectors.createVolumeConnector(db, connector), {
        name: 'VolumeConnectorTypeAndIdAlreadyExists',
      })
      const target = {
        node_id: node.id,
        volume_type: 'iscsi',
        boot_index: 0,
        volume_id: 'v',
        properties: { target_lun: 1 },
      }
      await targets.createVolumeTarget(db, target)
      await assert.rejects(targets.createVolumeTarget(db, target), { name: 'VolumeTargetBootIndexAlreadyExists' })
      const listed = await targets.listVolumeTargets(db, { filters: { project: 'me', volume_id: 'v' } })
      assert.deepEqual(listed[0]?.properties, { target_lun: 1 })
    })

    test('history is cut, listed and purged', async () => {
      const long = 'é'.repeat(60_000)
      const uuid = await history.createNodeHistory(db, {
        node_id: node.id,
        event: long,
        severity: 'ERROR',
        conductor: 'c',
      })
      const entry = await history.getNodeHistory(db, uuid)
      assert.ok(Buffer.byteLength(entry.event!) <= 65_535)
      assert.match(entry.event!, /^é+ \.\.\. \[truncated\] \.\.\. é+$/)
      for (let count = 0; count < 4; count += 1)
        await history.createNodeHistory(db, { node_id: node.id, event: String(count) })
      assert.equal((await history.listNodeHistory(db, node.id, { limit: 2, marker: entry.uuid! })).length, 2)
      const { id } = await conductors.registerConductor(db, { hostname: 'c', drivers: [] })
      assert.equal((await history.historyToPurge(db, id, { maxEntries: 2, minimumDays: 0 })).size, 0)
      await nodes.updateNode(db, node.id, { conductor_affinity: id })
      assert.equal((await history.historyToPurge(db, id, { maxEntries: 2, minimumDays: 1 })).size, 0)
      const surplus = await history.historyToPurge(db, id, { maxEntries: 2, minimumDays: 0 })
      assert.equal(surplus.get(node.id)?.[0], entry.id)
      await history.deleteNodeHistoryByIds(db, surplus.get(node.id)!)
      const left = await history.listNodeHistory(db, node.id)
      assert.deepEqual(
        left.map((each) => each.event),
        ['2', '3'],
      )
      await nodes.updateNode(db, node.id, { conductor_affinity: null })
    })

    test('one inventory per node', async () => {
      await inventory.storeNodeInventory(db, node.id, { inventory_data: { cpu: { count: 1 } }, plugin_data: null })
      await inventory.storeNodeInventory(db, node.id, { inventory_data: { cpu: { count: 2 } }, plugin_data: { x: 1 } })
      assert.deepEqual((await inventory.getNodeInventory(db, node.id)).inventory_data, { cpu: { count: 2 } })
      await inventory.destroyNodeInventory(db, node.id)
      await assert.rejects(inventory.getNodeInventory(db, node.id), { name: 'NodeInventoryNotFound' })
    })

    test('tags, shards, counts and checks of names', async () => {
      await tags.setNodeTags(db, node.id, ['b', 'a'])
      await tags.addNodeTag(db, node.id, 'a')
      assert.deepEqual(await tags.listNodeTags(db, node.id), ['a', 'b'])
      await assert.rejects(tags.removeNodeTag(db, node.id, 'c'), { name: 'NodeTagNotFound' })
      const shards = await nodes.listShards(db)
      assert.deepEqual(new Set(shards.map((each) => `${each.name} ${each.count}`)), new Set(['s1 1', 's2 1']))
      assert.equal(await nodes.countNodesInProvisionState(db, ['enroll', 'active']), 2)
      assert.deepEqual(
        [...(await nodes.checkNodeList(db, ['n', node.uuid!]))],
        [
          [node.uuid, node.uuid],
          ['n', node.uuid],
        ],
      )
      await assert.rejects(nodes.checkNodeList(db, ['n', 'nobody']), /nobody/)
      await nodes.destroyNode(db, node.uuid!)
      await assert.rejects(nodes.getNodeById(db, node.id), { name: 'NodeNotFound' })
    })
  })
