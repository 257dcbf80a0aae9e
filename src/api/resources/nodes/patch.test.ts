import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode } from '../../../db/nodes.ts'
import { NoValidHost } from '../../../errors/conductor.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import { testApi } from '../../for-tests.ts'

test('a node goes to no hardware type and no conductor group that nobody serves; else it can be changed where nobody does', async () => {
  const conductor = {
    update_node: (_context: unknown, { node_obj }: { node_obj: { data: unknown } }) => Promise.resolve(node_obj.data),
  } as unknown as ConductorClient
  const ofNode = () => Promise.reject(new NoValidHost({ reason: 'nobody serves it' }))
  await using server = await testApi({ conductor, routing: { ofNode } })
  await createNode(server.db, { uuid: '11111111-1111-4111-8111-111111111111', driver: 'fake-hardware', name: 'n' })
  const set = (field: string, value: unknown) =>
    server.ask('PATCH', '/v1/nodes/n', { body: [{ op: 'add', path: `/${field}`, value }] })
  for (const field of ['conductor_group', 'driver']) {
    const refused = await set(field, 'elsewhere')
    assert.equal(refused.status, 400, field)
    assert.match(refused.fault.faultstring, /nobody serves it/)
  }
  assert.equal((await set('description', 'to be kept')).status, 200)
})
