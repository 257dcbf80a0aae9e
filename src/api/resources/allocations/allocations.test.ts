import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAllocation, destroyAllocation, updateAllocation } from '../../../db/allocations.ts'
import { createNode } from '../../../db/nodes.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import { testApi, type TestApi } from '../../for-tests.ts'
import { callers, policy } from '../projects-for-tests.ts'

const path = '/v1/allocations'
const node = '11111111-1111-4111-8111-111111111111'

/** Stores and removes allocations as the conductor does; which node fits is its own business. */
const conductorOn = (server: () => TestApi) =>
  ({
    create_allocation: (_context, { allocation: { data, changes } }) =>
      createAllocation(server().db, Object.fromEntries(changes.map((key) => [key, data[key]]))),
    destroy_allocation: (_context, { allocation }) => destroyAllocation(server().db, allocation.data.id),
  }) as Partial<ConductorClient> as ConductorClient

async function started(asked?: ReturnType<typeof policy>): Promise<TestApi> {
  const held: { server?: TestApi } = {}
  held.server = await testApi({
    conductor: conductorOn(() => held.server ?? assert.fail()),
    ...(asked === undefined ? {} : { policy: asked }),
  })
  await createNode(held.server.db, {
    uuid: node,
    name: 'one',
    driver: 'fake-hardware',
    owner: 'owner',
    resource_class: 'rc',
  })
  return held.server
}

test('an allocation is created, shown, changed and removed', async () => {
  await using server = await started()
  const created = await server.ask('POST', path, {
    body: { name: 'a', resource_class: 'rc', candidate_nodes: ['one'], traits: ['CUSTOM_A'] },
  })
  const { uuid } = created.body
  assert.equal(created.status, 201)
  assert.deepEqual(
    [created.body.candidate_nodes, created.body.state, created.body.node_uuid],
    [[node], 'allocating', null],
  )
  const changed = await server.ask('PATCH', `${path}/a`, { body: [{ op: 'remove', path: '/name' }] })
  assert.deepEqual([changed.status, changed.body.name], [200, null])
  await updateAllocation(server.db, uuid, { node_id: 1, state: 'active' })
  const ofNode = await server.ask('GET', '/v1/nodes/one/allocation?fields=uuid,node_uuid')
  assert.deepEqual([ofNode.body.uuid, ofNode.body.node_uuid], [uuid, node])
  const list = await server.ask('GET', `${path}?node=one&state=active&resource_class=rc&limit=1`)
  assert.equal(new URL(list.body.next).searchParams.get('resource_class'), 'rc')
  assert.equal((await server.ask('DELETE', '/v1/nodes/one/allocation')).status, 204)
  assert.equal((await server.ask('GET', `${path}/${uuid}`)).status, 404)
  assert.equal((await server.ask('DELETE', '/v1/nodes/one/allocation')).status, 404)
  assert.equal((await server.ask('GET', '/v1/nodes/one/allocation')).status, 404)
  assert.equal((await server.ask('GET', '/v1/nodes/missing/allocation')).status, 400)
})

test('who does not see all nodes cannot tell a hidden node from none', async () => {
  await using server = await started(policy())
  const asked = (name: string, headers: object) =>
    server.ask('GET', `/v1/nodes/${name}/allocation`, { headers: { ...headers } }).then(({ status }) => status)
  assert.deepEqual([await asked('one', callers.ownerReader), await asked('missing', callers.systemReader)], [404, 400])
  const { strangerManager } = callers
  assert.deepEqual([await asked('one', strangerManager), await asked('missing', strangerManager)], [404, 404])
  const filtered = await server.ask('GET', `${path}?node=missing`, { headers: { ...strangerManager } })
  assert.equal(filtered.status, 404)
})

test('bad requests are refused', async () => {
  await using server = await started()
  const bad: [object, number?][] = [
    [{}],
    [{ resource_class: 'x'.repeat(81) }],
    [{ resource_class: 'rc', name: 'a b' }],
    [{ resource_class: 'rc', traits: ['bad'] }],
    [{ resource_class: 'rc', candidate_nodes: ['missing'] }],
    [{ node: 'missing' }],
    [{ node: 'one' }, 57],
    [{ resource_class: 'rc', state: 'active' }],
  ]
  for (const [body, minor = 115] of bad) {
    assert.equal((await server.ask('POST', path, { body, minor })).status, 400, JSON.stringify(body))
  }
  assert.equal((await server.ask('POST', path, { minor: 59, body: { resource_class: 'rc', owner: 'o' } })).status, 406)
  assert.equal((await server.ask('GET', `${path}?owner=o`, { minor: 59 })).status, 406)
  assert.equal((await server.ask('PATCH', `${path}/a`, { minor: 56, body: [] })).status, 405)
  assert.equal((await server.ask('GET', path, { minor: 51 })).status, 404)
  assert.equal((await server.ask('GET', `${path}?node=missing`)).status, 400)
  assert.equal((await server.ask('GET', `${path}?sort_key=traits`)).status, 400)
})

test('a project owns what it allocates, sees no other, and cannot allocate for another', async () => {
  await using server = await started(policy())
  const { ownerMember, strangerManager, systemAdmin, ownerReader } = callers
  const post = (headers: Record<string, string>, body: object) =>
    server.ask('POST', path, { headers, body: { resource_class: 'rc', ...body } })
  const mine = await post(ownerMember, {})
  assert.equal(mine.body.owner, 'owner')
  assert.equal((await post(ownerMember, { owner: 'stranger' })).status, 403)
  assert.equal((await post(ownerReader, {})).status, 403)
  assert.equal((await post(systemAdmin, { owner: 'stranger' })).body.owner, 'stranger')
  assert.equal((await post(strangerManager, { candidate_nodes: [node] })).status, 400)
  const count = async (headers: Record<string, string>, query = '') => {
    const { status, body } = await server.ask('GET', path + query, { headers })
    return status === 200 ? body.allocations.length : status
  }
  assert.deepEqual(await Promise.all([count(ownerMember), count(strangerManager), count(systemAdmin)]), [1, 1, 2])
  assert.equal(await count(ownerMember, '?owner=stranger'), 403)
  const url = `${path}/${mine.body.uuid}`
  assert.equal((await server.ask('GET', url, { headers: strangerManager })).status, 404)
  assert.equal((await server.ask('DELETE', url, { headers: ownerReader })).status, 403)
  assert.equal((await server.ask('DELETE', url, { headers: ownerMember })).status, 204)
})
