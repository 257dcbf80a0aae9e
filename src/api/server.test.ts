import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode } from '../db/nodes.ts'
import { openAuthorizer } from './authorizer.ts'
import { testApi } from './for-tests.ts'

const envelope = (answer: { body: { error_message: unknown } }) =>
  assert.deepEqual(Object.keys(answer.body), ['error_message'])

test('every answer tells its versions and its request id', async () => {
  await using server = await testApi()
  const { status, headers, body } = await server.ask('GET', '/v1/chassis', { minor: 20 })
  assert.equal(status, 200)
  assert.deepEqual(body, { chassis: [] })
  assert.equal(headers['x-openstack-ironic-api-version'], '1.20')
  assert.equal(headers['x-openstack-ironic-api-minimum-version'], '1.1')
  assert.equal(headers['x-openstack-ironic-api-maximum-version'], '1.115')
  assert.match(headers['openstack-request-id'] as string, /^req-[0-9a-f-]{36}$/)
  assert.equal(headers['x-openstack-request-id'], headers['openstack-request-id'])
})

test('versions that are not served are refused before anything is looked up', async () => {
  await using server = await testApi()
  for (const minor of ['1.0', '1.116', '2.1', 'x', '1', '1.2.3']) {
    const answer = await server.ask('GET', '/v1/nodes', { minor })
    assert.equal(answer.status, 406, minor)
    envelope(answer)
    assert.equal(answer.fault.code, 406)
    assert.equal(answer.headers['x-openstack-ironic-api-version'], undefined)
  }
  assert.equal((await server.ask('GET', '/', { minor: '1.500' })).fault.faultcode, 'Client')
})

test('paths and methods that do not exist are refused by routing', async () => {
  await using server = await testApi()
  const missing = await server.ask('GET', '/v1/bogus')
  assert.deepEqual([missing.status, missing.fault.code, missing.fault.title], [404, 404, 'Not Found'])
  const put = await server.ask('PUT', '/v1/chassis')
  assert.deepEqual([put.status, put.headers['allow']], [405, 'DELETE, GET, PATCH, POST'])
  const remove = await server.ask('DELETE', '/v1/chassis')
  assert.deepEqual([remove.status, remove.fault.faultcode], [400, 'Client'])
  assert.equal((await server.ask('HEAD', '/v1/chassis')).status, 405)
  const options = await server.ask('OPTIONS', '/v1/chassis')
  assert.deepEqual([options.status, options.headers['openstack-request-id'], options.body], [200, undefined, undefined])
})

test('the identifier of a node may stand behind the names of its sub-resources', async () => {
  await using server = await testApi()
  await createNode(server.db, { uuid: '11111111-1111-4111-8111-111111111111', driver: 'fake-hardware', name: 'n' })
  const [usual, turned] = await Promise.all([
    server.ask('GET', '/v1/nodes/n/states'),
    server.ask('GET', '/v1/nodes/states/n'),
  ])
  assert.deepEqual([turned.status, turned.body], [200, usual.body])
  const missing = await server.ask('GET', '/v1/nodes/states/console/m')
  assert.deepEqual([missing.status, missing.fault.faultstring], [404, 'Node m does not exist.'])
  for (const path of ['states', 'states/console', 'states/x/y', 'management/boot_device/supported', 'ports/n']) {
    assert.ok([400, 404].includes((await server.ask('GET', `/v1/nodes/${path}`)).status), path)
  }
  const lacking = await server.ask('GET', '/v1/nodes/states/console')
  assert.match(lacking.fault.faultstring, /lacks an identifier/)
})

test('who excludes JSON is told so in the form that is asked for', async () => {
  await using server = await testApi()
  const html = await server.ask('GET', '/v1/chassis', { headers: { accept: 'text/html' } })
  assert.equal(html.status, 406)
  assert.match(html.fault, /<h1>406/)
  assert.equal(html.headers['content-type'], 'application/json')
  assert.match((await server.ask('GET', '/bogus', { headers: { accept: 'text/plain' } })).fault, /^404 Not Found/)
  assert.equal(
    (await server.ask('GET', '/v1/chassis', { headers: { accept: 'application/xml, */*;q=0.1' } })).status,
    200,
  )
})

test('bodies are measured before they are parsed', async () => {
  await using server = await testApi()
  const large = await server.ask('POST', '/v1/chassis', { body: { description: 'x'.repeat(1024 * 1024) } })
  assert.deepEqual([large.status, Object.keys(large.body)], [413, ['faultcode', 'faultstring']])
  const deep = await server.ask('POST', '/v1/chassis', { body: `{"extra":${'['.repeat(100_000)}` })
  assert.deepEqual([deep.status, Object.keys(deep.body)], [400, ['faultcode', 'faultstring']])
  const brackets = await server.ask('POST', '/v1/chassis', { body: { description: '['.repeat(200) } })
  assert.equal(brackets.status, 201)
})

test('what is no JSON, or no object, is refused', async () => {
  await using server = await testApi()
  for (const body of ['{"a":', 'null', '5', '[]', 'nonsense', '{"extra": NaN}']) {
    const answer = await server.ask('POST', '/v1/chassis', { body })
    assert.equal(answer.status, 400, body)
    assert.equal(answer.fault.faultcode, 'Client')
  }
})

test('a chassis lives its life', async () => {
  await using server = await testApi()
  const created = await server.ask('POST', '/v1/chassis', {
    body: { description: 'rack 1', extra: { a: 1, __proto__x: 2 } },
  })
  assert.equal(created.status, 201)
  const { uuid } = created.body
  assert.equal(created.headers['location'], `http://localhost/v1/chassis/${uuid}`)
  assert.match(created.body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/)
  assert.equal(created.body.updated_at, null)
  const shown = await server.ask('GET', `/v1/chassis/${uuid}`)
  assert.deepEqual(shown.body, created.body)
  const some = await server.ask('GET', `/v1/chassis/${uuid}?fields=description&fields=uuid`)
  assert.deepEqual(Object.keys(some.body).sort(), ['description', 'links', 'uuid'])
  assert.equal((await server.ask('GET', `/v1/chassis/${uuid}?fields=nonsense`)).status, 400)
  assert.equal((await server.ask('GET', `/v1/chassis/${uuid}?fields=uuid`, { minor: 7 })).status, 406)
  const changed = await server.ask('PATCH', `/v1/chassis/${uuid}`, {
    body: [
      { op: 'remove', path: '/description' },
      { op: 'add', path: '/extra/b', value: { c: [1] } },
    ],
  })
  assert.deepEqual(
    [changed.status, changed.body.description, changed.body.extra],
    [200, null, { a: 1, __proto__x: 2, b: { c: [1] } }],
  )
  assert.equal((await server.ask('DELETE', `/v1/chassis/${uuid}`)).status, 204)
  assert.equal((await server.ask('DELETE', `/v1/chassis/${uuid}`)).status, 404)
})

test('lists go on page by page and keep their parameters', async () => {
  await using server = await testApi()
  for (let count = 0; count < 3; count++) await server.ask('POST', '/v1/chassis', { body: { description: `${count}` } })
  const first = await server.ask('GET', '/v1/chassis?limit=2&fields=uuid,description')
  assert.equal(first.body.chassis.length, 2)
  const next = new URL(first.body.next)
  assert.equal(next.searchParams.get('fields'), 'uuid,description')
  const second = await server.ask('GET', next.pathname + next.search)
  assert.deepEqual(
    second.body.chassis.map((chassis: { description: string }) => chassis.description),
    ['2'],
  )
  assert.equal(second.body.next, undefined)
  for (const query of [
    'limit=0',
    'limit=x',
    'limit=',
    'sort_dir=up',
    'sort_key=extra',
    'sort_key=nosuch',
    'marker=',
    'bogus=1',
    'detail=true&fields=uuid',
    'limit=1&limit=2',
  ]) {
    assert.equal((await server.ask('GET', `/v1/chassis?${query}`)).status, 400, query)
  }
})

test('a member named __proto__ is data', async () => {
  await using server = await testApi()
  const created = await server.ask('POST', '/v1/chassis', { body: '{"extra":{"__proto__":{"polluted":true}}}' })
  assert.equal(created.status, 201)
  const path = `/v1/chassis/${created.body.uuid}`
  const changed = await server.ask('PATCH', path, { body: [{ op: 'add', path: '/extra/__proto__/x', value: 1 }] })
  assert.equal(changed.status, 200)
  assert.equal(({} as Record<string, unknown>)['x'], undefined)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.deepEqual(Object.keys((await server.ask('GET', path)).body.extra), ['__proto__'])
})

test('integers beyond 2^53 come back digit by digit', async () => {
  await using server = await testApi()
  const created = await server.ask('POST', '/v1/chassis', { body: '{"extra":{"size":12345678901234567890}}' })
  const raw = await server.api.inject({ url: `/v1/chassis/${created.body.uuid}` })
  assert.match(raw.payload, /"size":12345678901234567890/)
})

test('policy files are looked at before each request is decided', async () => {
  let looks = 0
  const policy = { ...openAuthorizer, refresh: () => void (looks += 1) }
  await using server = await testApi({ policy })
  await server.ask('GET', '/v1/chassis')
  await server.ask('GET', '/v1/chassis')
  assert.equal(looks, 2)
})
