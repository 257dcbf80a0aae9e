import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'
import { mediaPath, ScriptedBmc, standardTree } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from './for-tests.ts'
import { RedfishVendorPassthru } from './vendor.ts'

const events = '/redfish/v1/EventService'
const list = `${events}/Subscriptions`
const one = {
  Id: 's1',
  Name: 'n',
  Context: 'c',
  Protocol: 'Redfish',
  Destination: 'https://x/',
  EventTypes: ['Alert'],
  HttpHeaders: ['Secret: 1'],
}
const tree = {
  ...standardTree,
  [events]: {
    Id: 'EventService',
    Subscriptions: { '@odata.id': list },
    EventTypesForSubscription: ['Alert', 'StatusChange'],
  },
  [list]: { Members: [{ '@odata.id': `${list}/s1` }] },
  [`${list}/s1`]: one,
}
const call = async (bmc: ScriptedBmc, method: string, verb: string, info: Record<string, unknown>) => {
  await using bench = redfishBench(bmc)
  const face = new RedfishVendorPassthru(bench.parts)
  await face.validateMethod(bench.task, method, verb, info)
  return await face.methods()[method]!.run(bench.task, info, verb)
}

test('subscriptions are made, shown without their secrets, and ended', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  bmc.when('POST', list, { status: 201, headers: { Location: `${list}/s1` } })
  const info = { Destination: 'https://192.0.2.7/events', EventTypes: ['Alert'], HttpHeaders: [{ Authorization: 'x' }] }
  const shown = { Id: 's1', Context: 'c', Protocol: 'Redfish', Destination: 'https://x/', EventTypes: ['Alert'] }
  assert.deepEqual(await call(bmc, 'create_subscription', 'POST', info), shown)
  assert.deepEqual(bmc.requests.find(({ method, path }) => method === 'POST' && path === list)!.body, {
    Destination: 'https://192.0.2.7/events',
    Protocol: 'Redfish',
    Context: '',
    EventTypes: ['Alert'],
    HttpHeaders: [{ Authorization: 'x' }],
  })
  assert.deepEqual(await call(bmc, 'get_subscription', 'GET', { id: 's1' }), shown)
  assert.deepEqual(await call(bmc, 'get_all_subscriptions', 'GET', {}), tree[list])
  bmc.when('DELETE', `${list}/s1`, { status: 204 })
  await call(bmc, 'delete_subscription', 'DELETE', { id: 's1' })
  await assert.rejects(
    call(bmc, 'delete_subscription', 'DELETE', { id: 's9' }),
    (thrown) => thrown instanceof RedfishError && thrown.code === 404,
  )
})

test('an id is one segment of a path and nothing else', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  for (const id of [
    '../../Systems/1',
    's1/../..',
    '%2e%2e',
    '..',
    '.',
    '',
    'a b',
    'a?b',
    'a#b',
    'a\\b',
    7,
    null,
    undefined,
    ['s1'],
  ])
    for (const method of ['get_subscription', 'delete_subscription'])
      await assert.rejects(call(bmc, method, 'GET', { id }), InvalidParameterValue, String(id))
  assert.deepEqual(bmc.requests, [])
})

test('what is no subscription is refused before the BMC hears of it', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  const fine = { Destination: 'https://192.0.2.7/' }
  const bad = [
    {},
    { Destination: 'not a url' },
    { Destination: 'x' },
    { ...fine, Context: 1 },
    { ...fine, Protocol: [] },
    { ...fine, HttpHeaders: 'x' },
    { ...fine, EventTypes: ['MetricReport'] },
    { ...fine, EventTypes: 'Alert' },
  ]
  for (const info of bad)
    await assert.rejects(call(bmc, 'create_subscription', 'POST', info), InvalidParameterValue, JSON.stringify(info))
  assert.ok(!bmc.said.some((line) => line.startsWith(`POST ${list}`)))
})

test('a medium is ejected by the words of this method', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  Object.assign(bmc.resource(`${mediaPath}/Usb`), { Inserted: true })
  await call(bmc, 'eject_vmedia', 'POST', { boot_device: 'usb' })
  assert.equal(bmc.resource(`${mediaPath}/Usb`)['Inserted'], false)
  await assert.rejects(call(bmc, 'eject_vmedia', 'POST', { boot_device: 'tape' }), InvalidParameterValue)
})
