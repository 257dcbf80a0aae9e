import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode } from '../db/nodes.ts'
import type { Notification } from '../notifications/notifier.ts'
import type { ConductorClient } from '../rpc/conductor.ts'
import { testApi } from './for-tests.ts'

const steps = [{ interface: 'bios', step: 'a', args: {}, priority: 1 }]

test('each change is told before and after, a failed one as an error', async () => {
  const told: Notification[] = []
  await using server = await testApi({ notifier: { emit: (notification) => told.push(notification) } })
  const create = () => server.ask('POST', '/v1/deploy_templates', { body: { name: 'CUSTOM_A', steps } })
  assert.equal((await create()).status, 201)
  assert.equal((await create()).status, 409)
  await server.ask('PATCH', '/v1/deploy_templates/CUSTOM_A', {
    body: [{ op: 'replace', path: '/extra', value: { a: 1 } }],
  })
  await server.ask('DELETE', '/v1/deploy_templates/CUSTOM_A')
  assert.deepEqual(
    told.map(({ event, status }) => `${event}.${status}`),
    [
      'deploytemplate.create.start',
      'deploytemplate.create.end',
      'deploytemplate.create.start',
      'deploytemplate.create.error',
      'deploytemplate.update.start',
      'deploytemplate.update.end',
      'deploytemplate.delete.start',
      'deploytemplate.delete.end',
    ],
  )
  assert.deepEqual(told[4]?.source['extra'], { a: 1 })
  assert.ok(told[1]?.source['created_at'] instanceof Date)
  assert.match(String(told[0]?.source['uuid']), /^[0-9a-f-]{36}$/)
})

test('what was refused before it began is not told', async () => {
  const told: Notification[] = []
  await using server = await testApi({ notifier: { emit: (notification) => told.push(notification) } })
  await server.ask('POST', '/v1/runbooks', { body: { name: 'a b', steps } })
  await server.ask('DELETE', '/v1/inspection_rules/11111111-1111-4111-8111-111111111111')
  assert.deepEqual(told, [])
})

test('changes of traits are told with the traits that the node has then', async () => {
  const told: Notification[] = []
  const conductor = {
    add_node_traits: () => Promise.resolve(),
    remove_node_traits: () => Promise.resolve(),
  } as unknown as ConductorClient
  await using server = await testApi({ conductor, notifier: { emit: (notification) => told.push(notification) } })
  await createNode(server.db, { uuid: '11111111-1111-4111-8111-111111111111', driver: 'fake-hardware', name: 'n' })
  const traits = ['CUSTOM_B', 'CUSTOM_A']
  assert.equal((await server.ask('PUT', '/v1/nodes/n/traits', { body: { traits } })).status, 204)
  assert.equal((await server.ask('DELETE', '/v1/nodes/n/traits')).status, 204)
  assert.deepEqual(
    told.map(({ event, status, source }) => [event, status, source['traits']]),
    [
      ['node.update', 'start', ['CUSTOM_A', 'CUSTOM_B']],
      ['node.update', 'end', ['CUSTOM_A', 'CUSTOM_B']],
      ['node.update', 'start', []],
      ['node.update', 'end', []],
    ],
  )
})
