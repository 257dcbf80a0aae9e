import assert from 'node:assert/strict'
import { test } from 'node:test'
import { error, mediaPath, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from '../redfish/for-tests.ts'
import { DracRedfishVirtualMediaBoot } from './boot.ts'
import { DracRedfishManagement } from './management.ts'
import { DracRedfishRaid } from './raid.ts'

const manager = '/redfish/v1/Managers/bmc'
const dell = `${manager}/Oem/Dell`
const link = (path: string) => ({ '@odata.id': path })
const importUri = `${manager}/Actions/Oem/EID_674_Manager.ImportSystemConfiguration`
const service = (name: string, action: string) => ({
  Id: name,
  Actions: { [`#${name}.${action}`]: { target: `${dell}/${name}/Actions/${name}.${action}` } },
})
const tree = {
  ...standardTree,
  [manager]: {
    ...standardTree[manager],
    Model: '17G Monolithic',
    Links: {
      Oem: {
        Dell: Object.fromEntries(
          ['DellJobService', 'DelliDRACCardService', 'DellLCService'].map((name) => [name, link(`${dell}/${name}`)]),
        ),
      },
    },
    Actions: {
      Oem: { 'EID_674_Manager.ImportSystemConfiguration#OemManager.ImportSystemConfiguration': { target: importUri } },
    },
  },
  [`${dell}/DellJobService`]: service('DellJobService', 'DeleteJobQueue'),
  [`${dell}/DelliDRACCardService`]: service('DelliDRACCardService', 'iDRACReset'),
  [`${dell}/DellLCService`]: service('DellLCService', 'GetRemoteServicesAPIStatus'),
}
tree[manager].Actions.Oem = {
  '#OemManager.ImportSystemConfiguration': { target: importUri },
} as never

test('a virtual CD is made the boot device by an import; what waits for a restart gets one', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  bmc.when('POST', importUri, { status: 202, headers: { Location: '/redfish/v1/TaskService/Tasks/JID_1' } })
  bmc.when('POST', importUri, error(400, 'GeneralError', 'job', { MessageId: 'IDRAC.2.1.LC068' }), 1)
  bmc.tree.set('/redfish/v1/TaskService/Tasks/JID_1', { Id: 'JID_1', TaskState: 'Completed' })
  await using used = redfishBench(bmc, { node: { provision_state: 'cleaning' } })
  const boot = new DracRedfishVirtualMediaBoot(used.parts)
  await (boot as unknown as { setBootDevice: (...args: unknown[]) => Promise<void> }).setBootDevice(
    used.task,
    'cdrom',
    false,
  )
  const imports = bmc.changes().filter(({ path }) => path === importUri)
  assert.equal(imports.length, 2)
  assert.deepEqual(imports[1]!.body, {
    ShareParameters: { Target: ['ALL'] },
    ImportBuffer:
      '<SystemConfiguration><Component FQDD="bmc"><Attribute Name="ServerBoot.1#BootOnce">Enabled</Attribute><Attribute Name="ServerBoot.1#FirstBootDevice">VCD-DVD</Attribute></Component></SystemConfiguration>',
  })
  assert.equal(bmc.resource(systemPath)['PowerState'], 'On')
})

test('the newest iDRACs boot from their first slot only', async () => {
  const slots = JSON.parse(JSON.stringify(tree).replaceAll(`${mediaPath}/Usb`, `${mediaPath}/1`)) as typeof tree
  Object.assign((slots as Record<string, Record<string, unknown>>)[`${mediaPath}/1`]!, { Id: '1', MediaTypes: ['CD'] })
  for (const [model, expected] of [
    ['17G Monolithic', '1'],
    ['16G Monolithic', 'Cd'],
    ['', 'Cd'],
  ] as const) {
    await using bmc = await ScriptedBmc.start({ ...slots, [manager]: { ...slots[manager], Model: model } })
    await using used = redfishBench(bmc)
    const boot = new DracRedfishVirtualMediaBoot(used.parts)
    await (boot as unknown as { insertCd: (...args: unknown[]) => Promise<void> }).insertCd(used.task, 'http://x/a.iso')
    assert.equal(bmc.resource(`${mediaPath}/${expected}`)['Inserted'], true, model)
  }
})

test('an iDRAC is put in order: jobs cleared, reset and waited for; in verification a failure is a warning', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  let looks = 0
  bmc.when('POST', /GetRemoteServicesAPIStatus/, () => ({
    status: 200,
    body: { LCStatus: ++looks < 3 ? 'Initializing' : 'Ready', RTStatus: 'Ready' },
  }))
  bmc.when('POST', /DeleteJobQueue|iDRACReset/, { status: 200, body: {} })
  await using used = redfishBench(bmc, { node: { provision_state: 'cleaning' } })
  const face = new DracRedfishManagement(used.parts)
  const run = (phase: string, step: string) =>
    face
      .steps()
      .find((each) => each.phase === phase && each.step === step)!
      .run(used.task, {})
  await run('clean', 'known_good_state')
  assert.deepEqual(used.clock.slept, [60_000, 10_000, 10_000])
  assert.deepEqual(
    bmc
      .changes()
      .filter(({ path }) => /Reset|Delete/.test(path))
      .map(({ body }) => body),
    [{ Force: 'Graceful' }, { JobID: 'JID_CLEARALL' }],
  )
  bmc.when('POST', /DeleteJobQueue/, error(400, 'GeneralError', 'no'))
  await assert.rejects(async () => run('clean', 'clear_job_queue'), /Managers\/bmc.*no/)
  used.node.provision_state = 'verifying'
  await run('verify', 'clear_job_queue')
  assert.match(used.warnings.join(), /could not be put in order/)
})

test('RAID waits until storage can be changed, powering the machine on where no agent did', async () => {
  await using bmc = await ScriptedBmc.start(tree)
  let looks = 0
  bmc.when('POST', /GetRemoteServicesAPIStatus/, () => ({
    status: 200,
    body: { RTStatus: ++looks < 3 ? 'NotReady' : 'Ready' },
  }))
  await using used = redfishBench(bmc, {
    node: { provision_state: 'cleaning', driver_internal_info: { cleaning_disable_ramdisk: true } },
  })
  const face = new DracRedfishRaid(used.parts)
  await face
    .steps()
    .find(({ phase, step }) => phase === 'clean' && step === 'delete_configuration')!
    .run(used.task, {})
  assert.equal(looks, 3)
  assert.equal(bmc.resource(systemPath)['PowerState'], 'On')
})
