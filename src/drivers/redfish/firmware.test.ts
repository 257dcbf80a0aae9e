import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listFirmwareComponents } from '../../db/firmware.ts'
import { openDatabase } from '../../db/database.ts'
import { createSchema } from '../../db/migrations/index.ts'
import { createNode } from '../../db/nodes.ts'
import type { ConfigOverrides } from '../../config/for-tests.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { error, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { RedfishFirmware } from './firmware.ts'
import { redfishBench } from './for-tests.ts'

const service = '/redfish/v1/UpdateService'
const simpleUpdate = `${service}/Actions/UpdateService.SimpleUpdate`
const taskPath = '/redfish/v1/TaskService/Tasks/1'
const adapters = '/redfish/v1/Chassis/1/NetworkAdapters'
const adapter = (id: string, serial: string | null, version: string | null) => ({
  Id: id,
  Manufacturer: 'M',
  Model: 'N',
  SerialNumber: serial,
  Controllers: [{ FirmwarePackageVersion: version }],
})
const tree = {
  ...standardTree,
  [systemPath]: { ...standardTree[systemPath], BiosVersion: '1.0' },
  '/redfish/v1/Chassis/1': { ...standardTree['/redfish/v1/Chassis/1'], NetworkAdapters: { '@odata.id': adapters } },
  [adapters]: { Members: [{ '@odata.id': `${adapters}/a` }, { '@odata.id': `${adapters}/b` }] },
  [`${adapters}/a`]: adapter('a', 'SN1', '20.1'),
  [`${adapters}/b`]: adapter('b', null, null),
  [service]: { Actions: { '#UpdateService.SimpleUpdate': { target: simpleUpdate } } },
}
const url = 'http://192.0.2.1/fw.bin'

async function bench(redfish: Partial<NonNullable<ConfigOverrides['redfish']>> = {}) {
  const bmc = await ScriptedBmc.start(tree)
  const db = await openDatabase('sqlite://', {})
  await createSchema(db)
  const used = redfishBench(bmc, {
    db,
    config: { redfish: { firmware_update_validation_interval: 5, ...redfish } },
    node: { provision_state: 'clean wait', clean_step: { interface: 'firmware', step: 'update' } },
  })
  await createNode(db, { uuid: used.node.uuid, driver: 'redfish' })
  bmc.when('POST', simpleUpdate, () => ({
    status: 202,
    headers: { Location: '/redfish/v1/Monitors/1' },
    body: { '@odata.id': taskPath, Id: '1' },
  }))
  const face = new RedfishFirmware(used.parts)
  const close = async () => {
    await used[Symbol.asyncDispose]()
    await db.close()
    await bmc.closeServer()
  }
  const setTask = (TaskState: string, more: Record<string, unknown> = {}) =>
    bmc.tree.set(taskPath, { Id: '1', TaskState, ...more })
  setTask('New')
  const [status, failed] = face.periodics()
  return {
    bmc,
    db,
    used,
    face,
    setTask,
    start: (settings: unknown) =>
      face
        .steps()
        .find(({ phase }) => phase === 'clean')!
        .run(used.task, { settings }),
    poll: () => status!.run(used.task),
    clear: () => failed!.run(used.task),
    resets: () => bmc.changes().flatMap(({ body }) => (body as { ResetType?: string } | undefined)?.ResetType ?? []),
    posts: () =>
      bmc
        .changes()
        .filter(({ path }) => path === simpleUpdate)
        .map(({ body }) => body),
    updates: () =>
      used.node.driver_internal_info!['redfish_fw_updates'] as { component: string; phase: string }[] | undefined,
    [Symbol.asyncDispose]: close,
  }
}

test('versions are kept by component; adapters go by serial number, and those without version are left out', async () => {
  await using it = await bench()
  await it.face.cacheFirmwareComponents(it.used.task)
  const read = async () =>
    (await listFirmwareComponents(it.db, 1)).map((each) => [
      each.component,
      each.initial_version,
      each.current_version,
      each.last_version_flashed,
    ])
  assert.deepEqual(await read(), [
    ['bios', '1.0', '1.0', null],
    ['bmc', '1.0.0', '1.0.0', null],
    ['nic:SN1', '20.1', '20.1', null],
  ])
  it.bmc.resource(systemPath)['BiosVersion'] = '2.0'
  it.bmc.resource(`${adapters}/a`)['Id'] = 'renamed'
  await it.face.cacheFirmwareComponents(it.used.task)
  assert.deepEqual((await read())[0], ['bios', '1.0', '2.0', '2.0'])
  assert.equal((await read()).length, 3)
})

test('a BIOS is staged, takes one restart, and is read back before the flow goes on', async () => {
  await using it = await bench()
  assert.equal(await it.start([{ component: 'bios', url }]), 'wait')
  assert.deepEqual(it.posts(), [{ ImageURI: url, TransferProtocol: 'HTTP' }])
  assert.equal(it.used.node.driver_internal_info!['cleaning_polling'], true)
  await it.poll()
  assert.deepEqual(it.resets(), [])
  it.setTask('Running')
  await it.poll()
  await it.poll()
  assert.deepEqual(it.resets(), ['On'])
  it.setTask('Completed', { TaskStatus: 'OK' })
  it.bmc.resource(systemPath)['BiosVersion'] = '2.0'
  await it.poll()
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  assert.equal(it.updates(), undefined)
  assert.equal(
    (await listFirmwareComponents(it.db, 1)).find(({ component }) => component === 'bios')!.current_version,
    '2.0',
  )
  assert.equal(it.used.clock.slept.filter((ms) => ms === 5000).length, 2) // three readings in a row
})

test('a BMC that restarts and forgets its task is waited for; its version tells', async () => {
  await using it = await bench()
  await it.start([
    { component: 'bmc', url },
    { component: 'nic:SN1', url: 'https://192.0.2.1/nic.bin' },
  ])
  it.bmc.when('GET', /./, 'reset', 400)
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'task')
  it.bmc.rules.splice(0, 1)
  it.bmc.tree.delete(taskPath)
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'version')
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'version')
  it.bmc.resource('/redfish/v1/Managers/bmc')['FirmwareVersion'] = '2.0.0'
  await it.poll()
  it.setTask('Starting')
  await it.poll()
  assert.deepEqual(it.posts()[1], { ImageURI: 'https://192.0.2.1/nic.bin', TransferProtocol: 'HTTPS' })
  assert.deepEqual([it.updates()!.length, it.updates()![0]!.component], [1, 'nic:SN1'])
  assert.deepEqual(it.resets(), [])
  await it.poll()
  await it.used.clock.sleep(31_000)
  await it.poll()
  assert.deepEqual(it.resets(), ['On'])
  it.setTask('Completed', { TaskStatus: 'Warning', Messages: [{ Message: 'almost' }] })
  await it.poll()
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  assert.match(it.used.warnings.join('\n'), /ended with warnings: almost/)
})

test('a BMC whose version stays the same is taken as done when its time is over', async () => {
  await using it = await bench({ firmware_update_reboot_delay: 60 })
  await it.start([{ component: 'bmc', url }])
  it.setTask('Completed')
  await it.poll()
  await it.poll()
  assert.deepEqual(it.used.flow, [])
  await it.used.clock.sleep(61_000)
  await it.poll()
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  assert.match(it.used.warnings.join('\n'), /is 1\.0\.0 after the update as before/)
  assert.deepEqual(it.resets(), [])
})

test('a task goes on, is done or has failed by its state; one that is not known goes on', async () => {
  const states: [string, string | undefined, 'goes on' | 'done' | 'failed'][] = [
    ...[
      'New',
      'Starting',
      'Running',
      'Suspended',
      'Interrupted',
      'Pending',
      'Stopping',
      'Cancelling',
      'Service',
      'Mystery',
    ].map((state): [string, undefined, 'goes on'] => [state, undefined, 'goes on']),
    ['Completed', 'OK', 'done'],
    ['Completed', 'Warning', 'done'],
    ['Completed', undefined, 'done'],
    ['Completed', 'Critical', 'failed'],
    ['Killed', undefined, 'failed'],
    ['Exception', undefined, 'failed'],
    ['Cancelled', undefined, 'failed'],
  ]
  for (const [state, health, expected] of states) {
    await using it = await bench()
    await it.start([{ component: 'nic:SN1', url }])
    it.setTask(state, { ...(health && { TaskStatus: health }), Messages: [{ MessageId: 'Base.1.0.InternalError' }] })
    await it.poll()
    const seen = it.used.failures.length > 0 ? 'failed' : it.updates()?.[0]?.phase === 'task' ? 'goes on' : 'done'
    assert.equal(seen, expected, state)
    if (expected === 'failed') {
      assert.match(it.used.failures[0]!.message, /failed internally/)
      assert.equal(it.updates(), undefined)
    }
  }
})

test('an update that never ends fails after its time, in words', async () => {
  await using it = await bench({ firmware_update_overall_timeout: 600 })
  await it.start([{ component: 'nic:SN1', url }])
  it.setTask('Running')
  await it.poll()
  await it.used.clock.sleep(601_000)
  await it.poll()
  assert.match(it.used.failures[0]!.message, /did not end within 600 s/)
})

test('a BMC that is not steady afterwards fails the update', async () => {
  await using it = await bench({ firmware_update_resource_validation_timeout: 30 })
  await it.start([{ component: 'nic:SN1', url }])
  it.setTask('Completed')
  await it.poll()
  it.bmc.when('GET', '/redfish/v1/Managers/bmc', error(400, 'GeneralError', 'not yet'))
  await it.poll()
  assert.match(it.used.failures[0]!.message, /does not answer steadily within 30 s/)
})

test('the wait that was asked for is kept, and a failed flow is cleared', async () => {
  await using it = await bench()
  await it.start([{ component: 'nic:SN1', url, wait: 120 }])
  it.setTask('Completed')
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'wait')
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'wait')
  await it.used.clock.sleep(121_000)
  await it.poll()
  assert.equal(it.updates()![0]!.phase, 'settle')
  await it.clear()
  assert.equal(it.updates(), undefined)
})

test('what is no list of updates is refused, and a BMC without the action says so', async () => {
  await using it = await bench()
  for (const bad of [
    undefined,
    [],
    {},
    [{}],
    [{ component: 'cpld', url }],
    [{ component: 'bios' }],
    [{ component: 'bios', url, wait: 0 }],
    [{ component: 'bios', url, other: 1 }],
  ])
    await assert.rejects(async () => it.start(bad), InvalidParameterValue, JSON.stringify(bad))
  it.bmc.resource(service)['Actions'] = {}
  await assert.rejects(async () => it.start([{ component: 'bios', url }]), /SimpleUpdate is missing/)
  assert.deepEqual(it.posts(), [])
})
