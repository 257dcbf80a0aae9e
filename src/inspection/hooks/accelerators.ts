import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { HardwareInspectionFailure } from '../../errors/index.ts'
import { badInventory, type HookInput, type InspectionHook } from './hook.ts'
import { pciList } from './properties.ts'

interface KnownDevice {
  readonly vendor_id: string
  readonly device_id: string
  readonly [key: string]: unknown
}

const nvidia = (device_id: string, model: string): KnownDevice => ({
  vendor_id: '10de',
  device_id,
  type: 'GPU',
  device_info: `NVIDIA Corporation ${model}`,
})

/** What is known without a file of the operator's. */
export const knownAccelerators: readonly KnownDevice[] = [
  nvidia('1eb8', 'Tesla T4'),
  nvidia('1df6', 'GV100GL'),
  nvidia('2236', 'A10'),
  nvidia('2235', 'A40'),
  nvidia('26b9', 'L40S'),
  nvidia('26ba', 'L20'),
]

/** The file of `[inspector]known_accelerators`: `pci_devices`, a list with vendor_id and device_id. The stock path need not exist. */
async function loadKnownDevices({ task }: HookInput): Promise<readonly KnownDevice[]> {
  const file = task.config.inspector.known_accelerators
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && file.startsWith(task.config.DEFAULT.pybasedir))
      return knownAccelerators
    throw new HardwareInspectionFailure(`[inspector]known_accelerators: ${file} cannot be read`, { cause })
  }
  const devices: unknown = (parse(text) as { pci_devices?: unknown } | null)?.pci_devices
  const isKnown = (device: unknown): device is KnownDevice =>
    typeof device === 'object' && device !== null && 'vendor_id' in device && 'device_id' in device
  if (!Array.isArray(devices) || !devices.every(isKnown))
    throw new HardwareInspectionFailure(
      `[inspector]known_accelerators: ${file} must hold pci_devices, a list in which each has vendor_id and device_id`,
    )
  return devices
}

/** `properties.accelerators`: the PCI devices that are known as such */
export const accelerators: InspectionHook = {
  name: 'accelerators',
  async run(input) {
    const { task, inventory, pluginData } = input
    // the agent reports them as plugin data, Redfish inspection inside the inventory
    const sent: unknown = [pluginData.pci_devices, inventory.pci_devices].find(
      (list) => Array.isArray(list) && list.length > 0,
    )
    if (sent === undefined) return task.log.warning(`No PCI devices came for node ${task.node.uuid}`)
    const known = await loadKnownDevices(input)
    const found = pciList(input, sent).flatMap((device) => {
      const match = known.find(
        ({ vendor_id, device_id }) => vendor_id === device.vendor_id && device_id === device.product_id,
      )
      if (match === undefined) return []
      if (device.bus === undefined) throw badInventory(input, `the PCI device ${device.product_id} has no bus`)
      return [{ ...match, pci_address: device.bus }]
    })
    task.node.properties = { ...task.node.properties, accelerators: found }
    await task.save()
  },
}
