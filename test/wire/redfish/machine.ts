import { ScriptedBmc, standardTree, systemPath } from '../../../src/lib/redfish/for-tests.ts'

/** The machine of the recorded flows: what its BMC does with BIOS settings, firmware and volumes. */

type Json = Record<string, unknown>

const bios = `${systemPath}/Bios`
const settings = `${bios}/Settings`
const updateService = '/redfish/v1/UpdateService'
const simpleUpdate = `${updateService}/Actions/UpdateService.SimpleUpdate`
const storages = `${systemPath}/Storage`
const storage = `${storages}/raid`
const volumes = `${storage}/Volumes`
const drives = ['d1', 'd2', 'd3']
const link = (path: string) => ({ '@odata.id': path })
const factory = { ProcTurboMode: 'Enabled', BootMode: 'Uefi', NumLock: 'On', QuietBoot: true, MaxRetry: 3 }
const tree: Readonly<Record<string, Json>> = {
  ...standardTree,
  [bios]: {
    '@odata.id': bios,
    Id: 'Bios',
    Attributes: factory,
    '@Redfish.Settings': { SettingsObject: { '@odata.id': settings }, SupportedApplyTimes: ['OnReset', 'Immediate'] },
    Actions: { '#Bios.ResetBios': { target: `${bios}/Actions/Bios.ResetBios` } },
  },
  [settings]: { '@odata.id': settings, Id: 'Settings', Attributes: {} },
  [storages]: { Members: [link(storage)] },
  [storage]: {
    Id: 'raid',
    StorageControllers: [{ MemberId: '0', SupportedRAIDTypes: ['RAID0', 'RAID1', 'RAID5'] }],
    Drives: drives.map((id) => link(`${storage}/Drives/${id}`)),
    Volumes: link(volumes),
  },
  ...Object.fromEntries(
    drives.map((id) => [
      `${storage}/Drives/${id}`,
      {
        '@odata.id': `${storage}/Drives/${id}`,
        Id: id,
        CapacityBytes: 1000204886016,
        MediaType: 'SSD',
        Protocol: 'SAS',
      },
    ]),
  ),
  [volumes]: { Members: [], '@Redfish.OperationApplyTimeSupport': { SupportedValues: ['Immediate', 'OnReset'] } },
  [updateService]: { Actions: { '#UpdateService.SimpleUpdate': { target: simpleUpdate } } },
}

/** A machine that is on, takes BIOS settings over and forgets its boot source when it starts, and has a RAID controller. */
export async function startMachine(): Promise<ScriptedBmc> {
  const bmc = await ScriptedBmc.start(tree)
  bmc.resource(systemPath)['PowerState'] = 'On'
  let reset = false
  bmc.when('POST', `${bios}/Actions/Bios.ResetBios`, () => {
    reset = true
    return undefined
  })
  bmc.when('POST', `${systemPath}/Actions/ComputerSystem.Reset`, ({ body }) => {
    if ((body as Json)['ResetType'] !== 'On') return undefined
    const wanted = bmc.resource(settings)
    const before = reset ? factory : (bmc.resource(bios)['Attributes'] as Json)
    bmc.resource(bios)['Attributes'] = { ...before, ...(wanted['Attributes'] as Json) }
    wanted['Attributes'] = {}
    reset = false
    const boot = bmc.resource(systemPath)['Boot'] as Json
    if (boot['BootSourceOverrideEnabled'] === 'Once') boot['BootSourceOverrideEnabled'] = 'Disabled'
    return undefined
  })
  updatesFirmware(bmc)
  keepsVolumes(bmc)
  return bmc
}

/** Takes on a task that ends after some looks. */
function startTask(bmc: ScriptedBmc, end: () => void) {
  const number =
    bmc.tree
      .keys()
      .filter((path) => path.includes('/Tasks/'))
      .toArray().length + 1
  const task = `/redfish/v1/TaskService/Tasks/${number}`
  const monitor = task.replace('Tasks', 'TaskMonitors')
  const told = { '@odata.id': task, Id: String(number), TaskState: 'Running', TaskStatus: 'OK', TaskMonitor: monitor }
  bmc.tree.set(task, told)
  let looks = 3
  bmc.when('GET', new RegExp(`(Tasks|TaskMonitors)/${number}$`), () => {
    if (--looks > 0) return { status: 200, body: told }
    if (looks === 0) end()
    return { status: 200, body: { ...told, TaskState: 'Completed', PercentComplete: 100 } }
  })
  return { status: 202, headers: { Location: monitor, 'Retry-After': '1' }, body: told }
}

function updatesFirmware(bmc: ScriptedBmc): void {
  bmc.when('POST', simpleUpdate, ({ body }) =>
    startTask(bmc, () => {
      const manager = String((body as Json)['ImageURI']).includes('bmc')
      if (manager) bmc.resource('/redfish/v1/Managers/bmc')['FirmwareVersion'] = '2.0.0'
      else bmc.resource(systemPath)['BiosVersion'] = '2.0.0'
    }),
  )
}

function keepsVolumes(bmc: ScriptedBmc): void {
  bmc.when('POST', volumes, ({ body }) => startTask(bmc, () => addVolume(bmc, body as Json)))
  bmc.when('DELETE', `${volumes}/v1`, () =>
    startTask(bmc, () => {
      bmc.tree.delete(`${volumes}/v1`)
      bmc.resource(volumes)['Members'] = []
    }),
  )
}

/** A volume `v1` of those values. */
export function addVolume(bmc: ScriptedBmc, values: Json): void {
  bmc.tree.set(`${volumes}/v1`, { '@odata.id': `${volumes}/v1`, Id: 'v1', Name: 'v1', ...values })
  bmc.resource(volumes)['Members'] = [link(`${volumes}/v1`)]
}

export const volumesOf = (bmc: ScriptedBmc): unknown[] => bmc.resource(volumes)['Members'] as unknown[]
