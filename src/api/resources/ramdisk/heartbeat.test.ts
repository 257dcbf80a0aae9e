import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode } from '../../../db/nodes.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import { testApi } from '../../for-tests.ts'

const node = '11111111-1111-4111-8111-111111111111'
const said = { callback_url: 'https://192.0.2.1:9999', agent_token: 'secret' }

test('the node of a heartbeat is named by the path or among the arguments', async () => {
  const beats: unknown[] = []
  const conductor = {
    heartbeat: (_context, { node_id, agent_token }) => Promise.resolve(void beats.push([node_id, agent_token])),
  } as Partial<ConductorClient> as ConductorClient
  await using server = await testApi({ conductor })
  await createNode(server.db, { uuid: node, driver: 'fake-hardware', name: 'n' })
  const beat = async (path: string, body: object, minor?: number) =>
    (await server.ask('POST', path, { body, ...(minor === undefined ? {} : { minor }) })).status
  assert.equal(await beat(`/v1/heartbeat/${node}`, said), 202)
  assert.equal(await beat('/v1/heartbeat', { ...said, node_ident: 'n' }), 202)
  assert.deepEqual(beats, [
    [node, 'secret'],
    [node, 'secret'],
  ])
  assert.equal(await beat('/v1/heartbeat', said), 400)
  assert.equal(await beat('/v1/heartbeat', { ...said, node_ident: 'a b' }), 400)
  assert.equal(await beat('/v1/heartbeat', { ...said, node_ident: 'n' }, 21), 404)
  assert.equal(await beat('/v1/heartbeat', { ...said, node_ident: 'n', agent_version: '9' }, 22), 400)
})
