import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import { error, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from './for-tests.ts'
import { RedfishRaid } from './raid.ts'

const storages = `${systemPath}/Storage`
const storage = `${storages}/raid`
const volumes = `${storage}/Volumes`
const link = (path: string) => ({ '@odata.id': path })
const gib = 1024 ** 3
const tree = {
  ...standardTree,
  [storages]: { Members: [link(storage), link(`${storages}/usb`)] },
  [storage]: {
    Id: 'raid',
    StorageControllers: [{ MemberId: '0', SupportedRAIDTypes: ['RAID0', 'RAID1', 'RAID5'] }],
    Drives: ['d1', 'd2', 'd3'].map((id) => link(`${storage}/Drives/${id}`)),
    Volumes: link(volumes),
  },
  ...Object.fromEntries(
    ['d1', 'd2', 'd3'].map((id) => [
      `${storage}/Drives/${id}`,
      { Id: id, CapacityBytes: 400 * gib, MediaType: 'SSD', Protocol: 'SATA' },
    ]),
  ),
  [volumes]: {
    Members: [] as unknown[],
    '@Redfish.OperationApplyTimeSupport': { SupportedValues: ['OnReset', 'Immediate'] },
  },
  [`${storages}/usb`]: {
    Id: 'usb',
    StorageControllers: [{ SupportedRAIDTypes: [] }],
    Drives: [link(`${storages}/usb/Drives/u1`)],
  },
  [`${storages}/usb/Drives/u1`]: { Id: 'u1', CapacityBytes: 900 * gib },
}
const taskPath = '/redfish/v1/TaskService/Tasks/3'

async function bench(
  logicalDisks: Record<string, unknown>[],
  resources: Readonly<Record<string, Record<string, unknown>>> = tree,
) {
  const bmc = await ScriptedBmc.start(resources)
  const used = redfishBench(bmc, {
    node: {
      provision_state: 'cleaning',
      target_raid_config: { logical_disks: logicalDisks },
      clean_step: { interface: 'raid', step: 'create_configuration' },
      driver_internal_info: { cleaning_disable_ramdisk: true },
    },
  })
  const face = new RedfishRaid(used.parts)
  const setTask = (TaskState: string, more: Record<string, unknown> = {}) =>
    bmc.tree.set(taskPath, { Id: '3', TaskState, TaskStatus: 'OK', ...more })
  const add = (id: string, RAIDType: string, size: number) => {
    bmc.tree.set(`${volumes}/${id}`, { Id: id, Name: `name-${id}`, RAIDType, CapacityBytes: size * gib })
    ;(bmc.resource(volumes)['Members'] as unknown[]).push(link(`${volumes}/${id}`))
  }
  const asTask = () => ({
    status: 202,
    headers: { Location: '/redfish/v1/Monitors/3' },
    body: { '@odata.id': taskPath, Id: '3' },
  })
  return {
    bmc,
    used,
    face,
    setTask,
    add,
    asTask,
    run: (step: string, args: Record<string, unknown> = {}, phase = 'clean') =>
      face
        .steps()
        .find((each) => each.phase === phase && each.step === step)!
        .run(used.task, args),
    poll: () => face.periodics()[0]!.run(used.task),
    sent: () =>
      bmc
        .changes()
        .filter(({ path }) => path.startsWith(volumes))
        .map(({ method, path, body }) => [method, path, body]),
    state: () => used.node.driver_internal_info!['raid_configs'],
    async [Symbol.asyncDispose]() {
      await used[Symbol.asyncDispose]()
      await bmc.closeServer()
    },
  }
}
const mirror = { size_gb: 100, raid_level: '1', is_root_volume: true, controller: 'raid', volume_name: 'root' }

test('a volume is made, its task followed although it answers 200, and its real size read back', async () => {
  await using it = await bench([mirror])
  it.bmc.when('POST', volumes, it.asTask)
  it.setTask('Running')
  assert.equal(await it.run('create_configuration'), 'wait')
  assert.deepEqual(it.sent(), [
    [
      'POST',
      volumes,
      {
        RAIDType: 'RAID1',
        CapacityBytes: 100 * gib,
        Links: { Drives: [link(`${storage}/Drives/d1`), link(`${storage}/Drives/d2`)] },
        Name: 'root',
        '@Redfish.OperationApplyTime': 'Immediate',
      },
    ],
  ])
  const info = it.used.node.driver_internal_info!
  assert.deepEqual(
    [info['cleaning_polling'], info['skip_current_clean_step'], info['cleaning_reboot']],
    [true, true, undefined],
  )
  await it.poll()
  assert.deepEqual(it.used.flow, [])
  it.setTask('Completed')
  it.add('v1', 'RAID1', 99)
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  assert.deepEqual(it.used.node.raid_config!['logical_disks'], [
    { id: 'v1', name: 'name-v1', controller: 'raid', size_gb: 99, raid_level: '1' },
  ])
  assert.equal(it.state(), undefined)
})

test('a BMC that makes volumes at once needs no waiting; one that waits for a start gets one', async () => {
  await using at = await bench([mirror])
  at.bmc.when('POST', volumes, () => {
    at.add('v1', 'RAID1', 100)
    return { status: 201, headers: { Location: `${volumes}/v1` } }
  })
  assert.equal(await at.run('create_configuration'), undefined)
  assert.equal((at.used.node.raid_config!['logical_disks'] as unknown[]).length, 1)
  const onReset = {
    ...tree,
    [volumes]: { Members: [], '@Redfish.OperationApplyTimeSupport': { SupportedValues: ['OnReset'] } },
  }
  await using later = await bench([mirror], onReset)
  later.bmc.when('POST', volumes, later.asTask)
  assert.equal(await later.run('create_configuration'), 'wait')
  assert.equal(later.used.node.driver_internal_info!['cleaning_reboot'], true)
  assert.equal(later.bmc.resource(systemPath)['PowerState'], 'On')
})

test('volumes come one after another, those that exist go first where that is asked for', async () => {
  await using it = await bench([mirror, { size_gb: 50, raid_level: '0', controller: 'raid' }])
  it.add('old', 'RAID5', 10)
  it.bmc.when('POST', volumes, it.asTask)
  it.bmc.when('DELETE', `${volumes}/old`, it.asTask)
  it.setTask('Completed')
  assert.equal(await it.run('create_configuration', { delete_existing: true }), 'wait')
  assert.deepEqual(it.sent(), [['DELETE', `${volumes}/old`, { '@Redfish.OperationApplyTime': 'Immediate' }]])
  await it.poll()
  await it.poll()
  assert.deepEqual(
    it.sent().map(([method, , body]) => [method, (body as Record<string, unknown>)['RAIDType']]),
    [
      ['DELETE', undefined],
      ['POST', 'RAID1'],
      ['POST', 'RAID0'],
    ],
  )
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  await using some = await bench([mirror, { size_gb: 50, raid_level: '0', controller: 'raid' }])
  some.bmc.when('POST', volumes, { status: 201 })
  await some.run('create_configuration', { create_root_volume: false })
  assert.equal(some.sent().length, 1)
  assert.equal((some.sent()[0]![2] as Record<string, unknown>)['RAIDType'], 'RAID0')
})

test('a task that fails fails the flow, one that vanished is judged by what is there', async () => {
  await using it = await bench([mirror])
  it.bmc.when('POST', volumes, it.asTask)
  it.setTask('Running')
  await it.run('create_configuration')
  it.setTask('Exception', { Messages: [{ Message: 'no such drive' }] })
  await it.poll()
  assert.match(it.used.failures[0]!.message, /state Exception.*no such drive/)
  assert.equal(it.state(), undefined)
  await using gone = await bench([mirror])
  gone.bmc.when('POST', volumes, gone.asTask)
  await gone.run('create_configuration')
  await gone.poll()
  assert.deepEqual(gone.used.flow, ['resume'])
  assert.match(gone.used.warnings.join(), /no longer known to the BMC/)
})

test('volumes are deleted, and a node of a failed flow is cleared', async () => {
  await using it = await bench([])
  it.add('v1', 'RAID1', 10)
  it.add('v2', 'RAID0', 10)
  it.bmc.when('DELETE', /Volumes/, ({ path }) => {
    const members = it.bmc.resource(volumes)['Members'] as { '@odata.id': string }[]
    members.splice(
      members.findIndex((each) => each['@odata.id'] === path),
      1,
    )
    return { status: 204 }
  })
  assert.equal(await it.run('delete_configuration'), undefined)
  assert.equal(it.sent().length, 2)
  assert.deepEqual(it.used.node.raid_config!['logical_disks'], [])
  it.used.node.driver_internal_info = { raid_configs: { operation: 'create', task_monitor_uri: ['x'] } }
  await it.face.periodics()[1]!.run(it.used.task)
  assert.equal(it.state(), undefined)
})

test('a refusal of the BMC is told, and bad configurations do not reach it', async () => {
  await using it = await bench([mirror])
  it.bmc.when('POST', volumes, error(400, 'PropertyValueNotInList', 'no RAID1 here'))
  await assert.rejects(async () => it.run('create_configuration'), /no RAID1 here/)
  await assert.rejects(
    async () =>
      it.run(
        'apply_configuration',
        { raid_config: { logical_disks: [{ size_gb: 1, raid_level: '1', interface_type: 'scsi' }] } },
        'deploy',
      ),
    InvalidParameterValue,
  )
  await assert.rejects(async () => it.run('apply_configuration', {}, 'deploy'), InvalidParameterValue)
  await using none = await bench([])
  await assert.rejects(async () => none.run('create_configuration'), MissingParameterValue)
})
