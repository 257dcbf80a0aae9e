import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApi } from '../for-tests.ts'

test('the document tells the asked version, without credentials of any kind', async () => {
  await using server = await testApi()
  const { status, body } = await server.ask('GET', '/openapi.json?microversion=1.51')
  assert.equal(status, 200)
  assert.equal(body.openapi, '3.1.0')
  assert.equal(body.info.version, '1.51')
  assert.ok('/v1/conductors' in body.paths, 'since 1.49')
  assert.ok(!('/v1/allocations' in body.paths), 'since 1.52')
  const node = body.paths['/v1/nodes/{node}'].get.responses['200'].content['application/json'].schema.properties
  assert.ok('description' in node, 'since 1.51')
  assert.ok(!('allocation_uuid' in node), 'since 1.52')
  const create = body.paths['/v1/nodes'].post.requestBody.content['application/json'].schema.properties
  assert.ok(!('lessee' in create), 'since 1.65')
})

test('a request in an old version, whose paths lose .json, gets it too; other versions and methods do not', async () => {
  await using server = await testApi()
  assert.equal((await server.ask('GET', '/openapi.json', { minor: 50 })).body.info.version, '1.115')
  assert.equal((await server.ask('GET', '/openapi.json?microversion=1.116')).status, 406)
  assert.equal((await server.ask('GET', '/openapi.json?microversion=x')).status, 406)
  assert.equal((await server.ask('POST', '/openapi.json')).status, 404)
})
