import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApi } from '../../for-tests.ts'

const path = '/v1/inspection_rules'
const actions = [{ op: 'fail', args: { msg: 'no' } }]

test('a rule without conditions always applies; it is stored and shown', async () => {
  await using server = await testApi()
  const { status, body } = await server.ask('POST', path, { body: { actions } })
  assert.equal(status, 201)
  assert.deepEqual([body.conditions, body.priority, body.phase, body.sensitive], [[], 0, 'main', false])
})

test('what a sensitive rule does is shown to nobody, and it stays sensitive', async () => {
  await using server = await testApi()
  const { body } = await server.ask('POST', path, { body: { actions, sensitive: true } })
  assert.deepEqual([body.actions, body.conditions], [null, null])
  const url = `${path}/${body.uuid}`
  const opening = [{ op: 'replace', path: '/sensitive', value: false }]
  assert.equal((await server.ask('PATCH', url, { body: opening })).status, 400)
  const removed = await server.ask('PATCH', url, { body: [{ op: 'remove', path: '/sensitive' }] })
  assert.deepEqual([removed.status, removed.body.sensitive, removed.body.actions], [200, true, null])
  const list = await server.ask('GET', `${path}?detail=true`)
  assert.equal(list.body.inspection_rules[0].actions, null)
})

test('the phase filters, and the link to the next page leads to the rules', async () => {
  await using server = await testApi()
  for (const priority of [1, 2]) await server.ask('POST', path, { body: { actions, priority } })
  const { body } = await server.ask('GET', `${path}?phase=main&limit=1`)
  const next = new URL(body.next)
  assert.equal(next.pathname, path)
  assert.equal(next.searchParams.get('phase'), 'main')
  assert.equal((await server.ask('GET', `${path}?phase=other`)).body.inspection_rules.length, 0)
})

test('bad rules are refused', async () => {
  await using server = await testApi()
  const bad = [
    {},
    { actions: [] },
    { actions: [{ op: 'nonsense', args: {} }] },
    { actions, conditions: [{ op: 'eq' }] },
    { actions, phase: 'other' },
    { actions, priority: -1 },
    { actions, priority: 10_000 },
    { actions, priority: 5000.5 },
    { actions, priority: '1' },
    { actions, priority: true },
    { actions, priority: null },
    { actions, scope: 'x' },
  ]
  for (const body of bad) assert.equal((await server.ask('POST', path, { body })).status, 400, JSON.stringify(body))
  assert.equal((await server.ask('GET', path, { minor: 95 })).status, 404)
  assert.equal((await server.ask('GET', `${path}/name`)).status, 400)
})
