import type { FirmwareComponentValues } from '../../db/firmware.ts'
import { managersOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'
import { Chassis, NetworkAdapter } from '../../lib/redfish/resources.ts'
import type { Task } from '../task.ts'

export type ComponentType = 'bios' | 'bmc' | 'nic'
export const nicPrefix = 'nic:'

export const componentTypeOf = (component: string): ComponentType | null =>
  component === 'bios' || component === 'bmc' ? component : component.startsWith(nicPrefix) ? 'nic' : null

/** A version that is read now; the first one stays as the initial version. */
const read = (
  component: string,
  version: string,
  more: Partial<FirmwareComponentValues> = {},
): FirmwareComponentValues => ({
  component,
  initial_version: version,
  current_version: version,
  vendor: null,
  model: null,
  serial_number: null,
  ...more,
})

/** Versions of what can be updated. Network adapters go by serial number: their ids may change with a restart. */
export async function readFirmware(task: Task, system: SystemResource): Promise<FirmwareComponentValues[]> {
  const found: FirmwareComponentValues[] = []
  const { BiosVersion } = system.data
  if (BiosVersion) found.push(read('bios', BiosVersion))
  const [manager] = await managersOf(system)
  if (manager?.data.FirmwareVersion)
    found.push(read('bmc', manager.data.FirmwareVersion, { model: manager.data.Model ?? null }))
  try {
    found.push(...(await adapters(system)))
  } catch (error) {
    if (!(error instanceof RedfishProblem)) throw error
    task.log.debug(`The BMC of node ${task.node.uuid} does not tell of network adapters`, { error })
  }
  return found
}

async function adapters(system: SystemResource): Promise<FirmwareComponentValues[]> {
  const [path] = system.data.Links?.Chassis ?? []
  const chassis = await system.bmc.find(Chassis, path)
  const found: FirmwareComponentValues[] = []
  for (const adapter of await system.bmc.membersIfAny(NetworkAdapter, chassis?.data.NetworkAdapters)) {
    const { SerialNumber, Manufacturer, Model, Controllers } = adapter.data
    for (const controller of Controllers ?? []) {
      const version = controller.FirmwarePackageVersion
      if (!version) continue
      const more = { vendor: Manufacturer ?? null, model: Model ?? null, serial_number: SerialNumber ?? null }
      found.push(read(`${nicPrefix}${SerialNumber || adapter.id}`, version, more))
    }
  }
  return found
}

/** The version that a component shows now; null when it cannot be told. */
export async function versionOf(task: Task, system: SystemResource, component: string): Promise<string | null> {
  const found = (await readFirmware(task, system)).find((each) => each.component === component)
  return found?.current_version ?? null
}
