/** Names that every object has, and numbers that a double cannot keep. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApi } from './for-tests.ts'

test('sort keys are columns, not what every object has', async () => {
  await using server = await testApi()
  for (const key of ['__proto__', 'constructor', 'toString']) {
    for (const path of ['nodes', 'ports', 'chassis', 'allocations']) {
      assert.equal((await server.ask('GET', `/v1/${path}?sort_key=${key}`)).status, 400, `${path} by ${key}`)
    }
  }
})

test('a number beyond 2^53 comes back as it went in', async () => {
  await using server = await testApi()
  const created = await server.ask('POST', '/v1/chassis', { body: '{"extra":{"n":9007199254740993}}' })
  assert.equal(created.status, 201)
  const shown = await server.api.inject({
    url: `/v1/chassis/${String(created.body.uuid)}`,
    headers: { 'x-openstack-ironic-api-version': '1.115' },
  })
  assert.match(shown.payload, /"n": ?9007199254740993\b/)
})

test('such a number in place of a name is refused', async () => {
  await using server = await testApi()
  const wrong = await server.ask('POST', '/v1/nodes', { body: '{"driver":"fake-hardware","name":9007199254740993}' })
  assert.equal(wrong.status, 400)
})
