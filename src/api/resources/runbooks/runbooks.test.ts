import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApi } from '../../for-tests.ts'
import { apiWithPolicies, callers } from '../projects-for-tests.ts'

const path = '/v1/runbooks'
const steps = [{ interface: 'bios', step: 'factory_reset', order: 1 }]

test('names, descriptions and traits depend on the version', async () => {
  await using server = await testApi()
  assert.equal((await server.ask('POST', path, { minor: 111, body: { name: 'plain', steps } })).status, 400)
  const old = await server.ask('POST', path, { minor: 111, body: { name: 'CUSTOM_A', steps } })
  assert.deepEqual(['traits' in old.body, 'description' in old.body, old.body.steps[0].args], [false, false, {}])
  assert.equal(
    (await server.ask('POST', path, { minor: 111, body: { name: 'CUSTOM_B', steps, description: 'd' } })).status,
    400,
  )
  const { body } = await server.ask('POST', path, { body: { name: 'plain', steps, description: 'd' } })
  assert.deepEqual([body.traits, body.description], [[], 'd'])
  const renamed = await server.ask('PATCH', `${path}/plain`, {
    minor: 100,
    body: [{ op: 'replace', path: '/extra', value: { a: 1 } }],
  })
  assert.equal(renamed.status, 200)
  assert.equal((await server.ask('GET', `${path}/plain/traits`, { minor: 111 })).status, 404)
  assert.equal((await server.ask('GET', path, { minor: 91 })).status, 404)
  assert.equal((await server.ask('GET', `${path}?fields=traits`, { minor: 111 })).status, 406)
})

test('traits are replaced, added and removed', async () => {
  await using server = await testApi()
  await server.ask('POST', path, { body: { name: 'r', steps } })
  const traits = async () => (await server.ask('GET', `${path}/r/traits`)).body.traits
  assert.equal(
    (await server.ask('PUT', `${path}/r/traits`, { body: { traits: ['CUSTOM_B', 'CUSTOM_A'] } })).status,
    204,
  )
  const added = await server.ask('PUT', `${path}/r/traits/CUSTOM_C`)
  assert.deepEqual(
    [added.status, (added.headers['location'] as string).endsWith('/v1/runbooks/r/traits/CUSTOM_C')],
    [204, true],
  )
  assert.equal((await server.ask('PUT', `${path}/r/traits/CUSTOM_D`, { body: { a: 1 } })).status, 400)
  assert.equal((await server.ask('PUT', `${path}/r/traits/bad`)).status, 400)
  assert.equal((await server.ask('DELETE', `${path}/r/traits/CUSTOM_B`)).status, 204)
  assert.equal((await server.ask('DELETE', `${path}/r/traits/CUSTOM_B`)).status, 204)
  assert.deepEqual(await traits(), ['CUSTOM_A', 'CUSTOM_C'])
  await server.ask('DELETE', `${path}/r/traits`)
  assert.deepEqual(await traits(), [])
})

test('a project keeps its runbooks to itself; a public one is shown to all and owned by nobody', async () => {
  await using server = await apiWithPolicies()
  const { ownerManager, strangerManager, systemAdmin, ownerMember } = callers
  const created = await server.ask('POST', path, { headers: ownerManager, body: { name: 'mine', steps } })
  assert.equal(created.body.owner, 'owner')
  const post = async (headers: Record<string, string>, body: object) =>
    (await server.ask('POST', path, { headers, body: { name: 'other', steps, ...body } })).status
  assert.equal(await post(ownerManager, { owner: 'stranger' }), 400)
  assert.equal(await post(ownerManager, { public: true }), 400)
  assert.equal(await post(ownerMember, {}), 403)
  const seen = async (headers: Record<string, string>, query = '') => {
    const { body } = await server.ask('GET', path + query, { headers })
    return body.runbooks.map((each: { name: string }) => each.name)
  }
  assert.deepEqual(await seen(strangerManager), [])
  assert.deepEqual(await seen(ownerManager), ['mine'])
  assert.deepEqual(await seen(ownerManager, '?project=true'), ['mine'])
  assert.equal((await server.ask('GET', `${path}/mine`, { headers: strangerManager })).status, 403)
  const opening = [{ op: 'replace', path: '/public', value: true }]
  assert.equal((await server.ask('PATCH', `${path}/mine`, { headers: ownerManager, body: opening })).status, 403)
  const opened = await server.ask('PATCH', `${path}/mine`, { headers: systemAdmin, body: opening })
  assert.deepEqual([opened.body.public, opened.body.owner], [true, null])
  assert.equal((await server.ask('GET', `${path}/mine`, { headers: strangerManager })).status, 200)
  assert.equal((await server.ask('GET', `${path}/mine/traits`, { headers: strangerManager })).status, 403)
  const owning = [{ op: 'replace', path: '/owner', value: 'owner' }]
  assert.equal((await server.ask('PATCH', `${path}/mine`, { headers: systemAdmin, body: owning })).status, 400)
})
