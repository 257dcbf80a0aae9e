import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApi } from '../../for-tests.ts'

const path = '/v1/deploy_templates'
const step = (name: string, priority: number | string = 1, args: object = {}) => ({
  interface: 'bios',
  step: name,
  args,
  priority,
})

test('a template is kept, shown by name and by uuid, changed and removed', async () => {
  await using server = await testApi()
  const steps = [step('a', '10', { password: 'p' }), step('b')]
  const created = await server.ask('POST', path, { body: { name: 'CUSTOM_A', steps, description: 'dropped' } })
  assert.equal(created.status, 201)
  const { uuid } = created.body
  assert.match(created.headers['location'] as string, new RegExp(`${path}/${uuid}$`))
  assert.deepEqual(created.body.steps[0].args, { password: '******' })
  assert.equal('description' in created.body, false)
  const shown = await server.ask('GET', `${path}/CUSTOM_A`)
  assert.equal(shown.body.steps[0].priority, 10)
  const changed = await server.ask('PATCH', `${path}/${uuid}`, {
    body: [
      { op: 'replace', path: '/steps/0/priority', value: 20 },
      { op: 'remove', path: '/extra' },
    ],
  })
  // a step that stays keeps its place, a changed one comes last
  assert.deepEqual(
    changed.body.steps.map((each: { step: string }) => each.step),
    ['b', 'a'],
  )
  assert.deepEqual(changed.body.extra, {})
  const list = await server.ask('GET', `${path}?fields=name`)
  assert.deepEqual(Object.keys(list.body.deploy_templates[0]), ['name', 'links'])
  assert.equal((await server.ask('DELETE', `${path}/${uuid}`)).status, 204)
  assert.equal((await server.ask('GET', `${path}/${uuid}`)).status, 404)
})

test('bad templates are refused and nothing is stored', async () => {
  await using server = await testApi()
  const good = { name: 'CUSTOM_A', steps: [step('a')] }
  const bad: Record<string, object> = {
    'no trait': { ...good, name: 'a' },
    'no steps': { ...good, steps: [] },
    'unknown interface': { ...good, steps: [{ ...step('a'), interface: 'boot' }] },
    'negative priority': { ...good, steps: [step('a', -1)] },
    'priority that no column holds': { ...good, steps: [step('a', '99999999999')] },
    'step without arguments': { ...good, steps: [{ interface: 'bios', step: 'a', priority: 1 }] },
    'one step twice': { ...good, steps: [step('a'), step('a', 2)] },
    'unknown member': { ...good, other: 1 },
    'bad uuid': { ...good, uuid: 'x' },
  }
  for (const [what, body] of Object.entries(bad)) {
    assert.equal((await server.ask('POST', path, { body })).status, 400, what)
  }
  assert.deepEqual((await server.ask('GET', path)).body, { deploy_templates: [] })
  assert.equal((await server.ask('POST', path, { body: good })).status, 201)
  assert.equal((await server.ask('POST', path, { body: good })).status, 409)
  const patches = [
    [{ op: 'replace', path: '/uuid', value: 'x' }],
    [{ op: 'remove', path: '/name' }],
    [{ op: 'replace', path: '/steps', value: [] }],
    [{ op: 'add', path: '/steps/-', value: step('a', 3) }],
    [{ op: 'replace', path: '/steps/9/priority', value: 1 }],
  ]
  for (const body of patches) {
    assert.equal((await server.ask('PATCH', `${path}/CUSTOM_A`, { body })).status, 400, JSON.stringify(body))
  }
})

test('templates came with 1.55', async () => {
  await using server = await testApi()
  assert.equal((await server.ask('GET', path, { minor: 54 })).status, 404)
  assert.equal((await server.ask('POST', path, { minor: 54, body: {} })).status, 405)
  assert.equal((await server.ask('GET', path, { minor: 55 })).status, 200)
  assert.equal((await server.ask('GET', `${path}?sort_key=steps`)).status, 400)
  assert.equal((await server.ask('GET', `${path}?fields=name&detail=true`)).status, 400)
})
