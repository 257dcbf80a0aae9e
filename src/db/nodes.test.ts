import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSchema } from './migrations/index.ts'
import { openDatabase } from './database.ts'
import {
  createNode,
  destroyNode,
  getNode,
  getNodeRow,
  listNodeRows,
  listNodes,
  releaseNode,
  reserveNode,
  updateNode,
} from './nodes.ts'
import { createPort, listPortsByNodeId } from './ports.ts'
import { setTraits } from './traits.ts'

async function memory() {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  return db
}

test('a node is stored with the defaults of real Ironic and read back', async () => {
  const db = await memory()
  const node = await createNode(db, { name: 'n1', driver: 'redfish', driver_info: { a: [1, 'x'] } })
  assert.equal(node.provision_state, 'enroll')
  assert.equal(node.maintenance, false)
  assert.deepEqual(node.driver_info, { a: [1, 'x'] })
  assert.deepEqual(node.properties, {})
  assert.ok(node.created_at instanceof Date)
  assert.equal(node.updated_at, null)
  assert.deepEqual(node.traits, [])
  assert.deepEqual(await getNode(db, 'n1'), node)
  const row = await getNodeRow(db, node.uuid!)
  assert.equal(row['driver_info'], '{"a":[1,"x"]}')
  assert.equal(row['version'], '1.44')
  await db.close()
})

test('names and uuids are taken once', async () => {
  const db = await memory()
  const node = await createNode(db, { name: 'n1', driver: 'redfish' })
  await assert.rejects(createNode(db, { name: 'n1', driver: 'redfish' }), { name: 'DuplicateName' })
  await assert.rejects(createNode(db, { uuid: node.uuid, driver: 'redfish' }), { name: 'NodeAlreadyExists' })
  const other = await createNode(db, { name: 'n2', instance_uuid: '7d9a7a0c-6a4a-4f9b-bb7c-7a0a1fe4e4aa' })
  await assert.rejects(updateNode(db, node.id, { instance_uuid: other.instance_uuid }), { name: 'InstanceAssociated' })
  await assert.rejects(getNode(db, 'n3'), { name: 'NodeNotFound' })
  await db.close()
})

test('the lock is given to one', async () => {
  const db = await memory()
  const { uuid } = await createNode(db, {})
  const taken = await Promise.allSettled(Array.from({ length: 5 }, () => reserveNode(db, uuid!, 'host')))
  assert.equal(taken.filter((each) => each.status === 'fulfilled').length, 1)
  await assert.rejects(releaseNode(db, 'other', uuid!), { name: 'NodeLocked' })
  await releaseNode(db, 'host', uuid!)
  await assert.rejects(releaseNode(db, 'host', uuid!), { name: 'NodeNotLocked' })
  await db.close()
})

test('pages follow the sort key with the id as tie-break, NULL lowest', async () => {
  const db = await memory()
  const owners = ['b', null, 'a', 'b', null, 'a', 'c']
  const uuids: string[] = []
  for (const owner of owners) uuids.push((await createNode(db, { owner })).uuid!)
  for (const sortDir of ['asc', 'desc'] as const) {
    const all = (await listNodes(db, { sortKey: 'owner', sortDir })).map((node) => node.uuid!)
    assert.equal(all.length, owners.length)
    const paged: string[] = []
    for (let marker: string | undefined; ;) {
      const page = await listNodes(db, { sortKey: 'owner', sortDir, limit: 2, marker })
      if (page.length === 0) break
      paged.push(...page.map((node) => node.uuid!))
      marker = paged.at(-1)
    }
    assert.deepEqual(paged, all)
  }
  const asc = (await listNodes(db, { sortKey: 'owner' })).map((node) => uuids.indexOf(node.uuid!))
  assert.deepEqual(asc, [1, 4, 2, 5, 0, 3, 6])
  await assert.rejects(listNodes(db, { sortKey: 'nonsense' }), { name: 'InvalidParameterValue' })
  await db.close()
})

test('children are left out unless asked for; filters combine', async () => {
  const db = await memory()
  const parent = await createNode(db, { name: 'p', owner: 'me', provision_state: 'active' })
  await createNode(db, { name: 'c', parent_node: parent.uuid, lessee: 'me' })
  const names = async (filters: Parameters<typeof listNodes>[1]) =>
    (await listNodes(db, filters)).map((node) => node.name)
  assert.deepEqual(await names({}), ['p'])
  assert.deepEqual(await names({ filters: { include_children: true } }), ['p', 'c'])
  assert.deepEqual(await names({ filters: { parent_node: parent.uuid! } }), ['c'])
  assert.deepEqual(
    await names({ filters: { project: 'me', include_children: true, provision_state_in: ['active', null] } }),
    ['p'],
  )
  assert.deepEqual(await names({ filters: { uuid_in: [] } }), [])
  assert.deepEqual(await names({ filters: { associated: true } }), [])
  await db.close()
})

test('inspection sets its times', async () => {
  let now = new Date('2026-01-02T03:04:05.678Z')
  const db = await openDatabase('sqlite://', { clock: { now: () => now } })
  await createSchema(db)
  const { id } = await createNode(db, {})
  const started = await updateNode(db, id, { provision_state: 'inspecting' })
  assert.deepEqual(started.inspection_started_at, now)
  now = new Date('2026-01-02T04:00:00Z')
  const ended = await updateNode(db, id, { provision_state: 'manageable' })
  assert.equal(ended.inspection_started_at, null)
  assert.deepEqual(ended.inspection_finished_at, now)
  assert.deepEqual(ended.provision_updated_at, now)
  assert.deepEqual(ended.updated_at, now)
  await db.close()
})

test('a node goes with what belongs to it', async () => {
  const db = await memory()
  const { id } = await createNode(db, {})
  await createPort(db, { node_id: id, address: 'aa:bb:cc:dd:ee:ff' })
  await setTraits(db, id, ['CUSTOM_A', 'CUSTOM_B'])
  assert.equal((await listPortsByNodeId(db, id)).length, 1)
  assert.deepEqual(
    (await listNodeRows(db)).map((row) => row.traits),
    [['CUSTOM_A', 'CUSTOM_B']],
  )
  await destroyNode(db, id)
  assert.deepEqual(await db.query('select * from ports'), [])
  assert.deepEqual(await db.query('select * from node_traits'), [])
  await db.close()
})
