import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode } from '../../../db/nodes.ts'
import { destroyVolumeTarget, updateVolumeTarget } from '../../../db/volume-targets.ts'
import type { Db } from '../../../db/database.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import { testApi, type TestApi } from '../../for-tests.ts'
import { apiWithPolicies, callers } from '../projects-for-tests.ts'

const owned = '11111111-1111-4111-8111-111111111111'
const foreign = '22222222-2222-4222-8222-222222222222'
const also = '33333333-3333-4333-8333-333333333333'

async function addNodes(db: Db): Promise<void> {
  await createNode(db, { uuid: owned, name: 'owned', driver: 'fake-hardware', owner: 'owner', lessee: 'lessee' })
  await createNode(db, { uuid: foreign, driver: 'fake-hardware', owner: 'stranger' })
  await createNode(db, { uuid: also, driver: 'fake-hardware', owner: 'owner' })
}

/** What the conductor does with targets, without its check of the power state. */
const conductorOn = (server: () => TestApi) =>
  ({
    update_volume_target: (_context, { target: { data, changes } }) => {
      const values = Object.fromEntries(changes.map((key) => [key, data[key]]))
      return updateVolumeTarget(server().db, data.id, values)
    },
    destroy_volume_target: (_context, { target }) => destroyVolumeTarget(server().db, target.data.id),
  }) as Partial<ConductorClient> as ConductorClient

const targets = '/v1/volume/targets'
const target = (node_uuid: string, boot_index = 0) => ({
  node_uuid,
  boot_index,
  volume_type: 'iscsi',
  volume_id: 'v',
  properties: { auth_password: 'p', iqn: 'q' },
})

test('targets are kept, shown with their passwords hidden, listed by node and changed by the conductor', async () => {
  const held: { server?: TestApi } = {}
  await using server = await testApi({ conductor: conductorOn(() => held.server ?? assert.fail()) })
  held.server = server
  await addNodes(server.db)
  const created = await server.ask('POST', targets, { body: target(owned) })
  assert.deepEqual([created.status, created.body.properties], [201, { auth_password: '******', iqn: 'q' }])
  const url = `${targets}/${created.body.uuid}`
  assert.equal((await server.ask('POST', targets, { body: target(owned) })).status, 409)
  const patched = await server.ask('PATCH', url, {
    body: [
      { op: 'add', path: '/properties/lun', value: 1 },
      { op: 'replace', path: '/boot_index', value: 3 },
    ],
  })
  assert.deepEqual(
    [patched.body.properties, patched.body.boot_index],
    [{ auth_password: '******', iqn: 'q', lun: 1 }, 3],
  )
  for (const query of [`?node=${owned}`, '?node=owned', '']) {
    assert.equal((await server.ask('GET', targets + query)).body.targets.length, 1, query)
  }
  assert.equal((await server.ask('GET', `${targets}?node=${foreign}`)).body.targets.length, 0)
  const next = new URL((await server.ask('GET', `${targets}?node=owned&limit=1`)).body.next)
  assert.equal(next.searchParams.get('node'), 'owned')
  assert.equal((await server.ask('GET', `/v1/nodes/${owned}/volume/targets`)).body.targets[0].node_uuid, owned)
  assert.equal((await server.ask('GET', '/v1/nodes/owned/volume/targets')).status, 404)
  assert.equal((await server.ask('GET', `/v1/nodes/${owned}/volume/targets/${created.body.uuid}`)).status, 400)
  const moved = await server.ask('PATCH', url, { body: [{ op: 'replace', path: '/node_uuid', value: also }] })
  assert.deepEqual([moved.status, moved.body.node_uuid], [200, also])
  assert.equal((await server.ask('DELETE', url)).status, 204)
  assert.equal((await server.ask('GET', url)).status, 404)
})

test('a target cannot be moved to a node of another owner, and the answer does not tell whether that node exists', async () => {
  const held: { server?: TestApi } = {}
  await using server = await testApi({ conductor: conductorOn(() => held.server ?? assert.fail()) })
  held.server = server
  await addNodes(server.db)
  const { body } = await server.ask('POST', targets, { body: target(owned) })
  const move = async (value: unknown) => {
    const patch = [{ op: 'replace', path: '/node_uuid', value }]
    const { status, fault } = await server.ask('PATCH', `${targets}/${body.uuid}`, { body: patch })
    return [status, String(fault.faultstring).replace(String(value), '')]
  }
  const refused = await move(foreign)
  assert.equal(refused[0], 400)
  assert.deepEqual(await move('99999999-9999-4999-8999-999999999999'), refused)
  assert.equal((await move('x'))[0], 400)
})

test('each project sees the volumes of its nodes, in every form of the list', async () => {
  await using server = await apiWithPolicies()
  await addNodes(server.db)
  const { systemAdmin, ownerReader, lesseeMember, strangerManager, systemReader } = callers
  for (const node of [owned, foreign]) {
    await server.ask('POST', '/v1/volume/connectors', {
      headers: systemAdmin,
      body: { node_uuid: node, type: 'iqn', connector_id: node },
    })
  }
  const count = async (headers: Record<string, string>, url: string) => {
    const { status, body } = await server.ask('GET', url, { headers })
    return status === 200 ? body.connectors.length : status
  }
  const forms = ['/v1/volume/connectors', '/v1/volume/connectors?detail=true', `/v1/volume/connectors?node=${foreign}`]
  const seen = (headers: Record<string, string>) => Promise.all(forms.map((form) => count(headers, form)))
  assert.deepEqual(await seen(systemReader), [2, 2, 1])
  assert.deepEqual(await seen(ownerReader), [1, 1, 0])
  assert.deepEqual(await seen(lesseeMember), [1, 1, 0])
  assert.deepEqual(await seen(strangerManager), [1, 1, 1])
  assert.equal(await count(ownerReader, `/v1/nodes/${foreign}/volume/connectors`), 404)
})

test('a stranger gets 404, a reader 403, and creating never tells whether the node exists', async () => {
  await using server = await apiWithPolicies()
  await addNodes(server.db)
  const { systemAdmin, ownerReader, strangerManager, ownerMember } = callers
  const { body } = await server.ask('POST', targets, { headers: systemAdmin, body: target(owned) })
  const url = `${targets}/${body.uuid}`
  assert.equal((await server.ask('GET', url, { headers: strangerManager })).status, 404)
  assert.equal((await server.ask('DELETE', url, { headers: ownerReader })).status, 403)
  const shown = await server.ask('GET', url, { headers: ownerMember })
  assert.match(shown.body.properties.redacted_contents, /^\*\* Value redacted/)
  const create = async (headers: Record<string, string>, node: string) =>
    (await server.ask('POST', targets, { headers, body: target(node, 7) })).status
  const missing = '99999999-9999-4999-8999-999999999999'
  assert.deepEqual(await Promise.all([foreign, missing].map((node) => create(ownerMember, node))), [403, 403])
  assert.equal(await create(systemAdmin, missing), 400)
})
