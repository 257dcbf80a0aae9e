import { InvalidParameterValue } from '../../errors/index.ts'
import { updateCapabilities } from '../../domain/capabilities.ts'
import { badInventory, dictOf, type HookInput, type InspectionHook } from './hook.ts'

/** Properties that must be whole numbers of 0 or more, if they are there. */
const countProperties: readonly string[] = ['cpus', 'local_gb', 'memory_mb']

async function setProperty({ task }: HookInput, name: string, value: unknown): Promise<void> {
  const number = countProperties.includes(name) && value !== null ? wholeNumber(value) : 0
  if (number === undefined || number < 0)
    throw new InvalidParameterValue(`${name} of node ${task.node.uuid} must be a whole number of 0 or more.`)
  task.node.properties = { ...task.node.properties, [name]: value }
  await task.save()
}

async function addCapabilities(input: HookInput, capabilities: Record<string, unknown>): Promise<void> {
  const current: unknown = input.task.node.properties?.capabilities
  if (current !== undefined && current !== null && typeof current !== 'string')
    throw badInventory(input, 'properties.capabilities of the node is not a text')
  await setProperty(input, 'capabilities', updateCapabilities(current ?? '', capabilities))
}

/** Python's `int()` of a JSON value; undefined where it would refuse. */
export function wholeNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'string' && /^\s*[+-]?\d+(?:_\d+)*\s*$/.test(value)) return Number(value.replaceAll('_', ''))
  return undefined
}

/** `properties.cpu_arch` */
export const architecture: InspectionHook = {
  name: 'architecture',
  async run(input) {
    const { architecture: cpuArch } = dictOf(input, 'cpu')
    if (cpuArch === undefined) throw badInventory(input, 'the CPU architecture is missing')
    await setProperty(input, 'cpu_arch', cpuArch)
  },
}

/** `properties.memory_mb` */
export const memory: InspectionHook = {
  name: 'memory',
  async run(input) {
    const { physical_mb: physicalMb } = dictOf(input, 'memory')
    if (physicalMb === undefined) throw badInventory(input, 'the amount of memory is missing')
    await setProperty(input, 'memory_mb', physicalMb)
  },
}

/** `properties.cpus` */
export const cpus: InspectionHook = {
  name: 'cpus',
  async run(input) {
    const count = wholeNumber(dictOf(input, 'cpu').count ?? ('count' in dictOf(input, 'cpu') ? null : 0))
    if (count === undefined) throw badInventory(input, 'the CPU count is not a number')
    if (count === 0) return input.task.log.warning(`No CPU count came for node ${input.task.node.uuid}`)
    await setProperty(input, 'cpus', count)
  },
}

/** Capability `boot_mode` */
export const bootMode: InspectionHook = {
  name: 'boot-mode',
  async run(input) {
    const mode: unknown = dictOf(input, 'boot').current_boot_mode ?? null
    if (mode === null) return input.task.log.warning(`No boot mode came for node ${input.task.node.uuid}`)
    await addCapabilities(input, { boot_mode: mode })
  },
}

/** Capabilities of CPU flags, as `[inspector]cpu_capabilities` maps them */
export const cpuCapabilities: InspectionHook = {
  name: 'cpu-capabilities',
  async run(input) {
    const flags: unknown = dictOf(input, 'cpu').flags
    if (!flags || (Array.isArray(flags) && flags.length === 0))
      return input.task.log.warning(`No CPU flags came for node ${input.task.node.uuid}`)
    const sent: unknown[] = Array.isArray(flags) ? flags : Object.keys(flags)
    const found = Object.entries(input.task.config.inspector.cpu_capabilities).filter(([flag]) => sent.includes(flag))
    await addCapabilities(input, Object.fromEntries(found.map(([, name]) => [name, 'true'])))
  },
}

/** An entry of `[inspector]pci_device_alias`; undefined (and a line in the log) when it is not of the form. */
function readAlias(entry: string, input: HookInput): { key: string; name: string } | undefined {
  try {
    const alias = JSON.parse(entry) as Record<string, string>
    if (Object.keys(alias).toSorted().join() === 'name,product_id,vendor_id')
      return { key: `${alias.vendor_id}:${alias.product_id}`, name: String(alias.name) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  input.task.log.error(`[inspector]pci_device_alias: ${entry} must be JSON with vendor_id, product_id and name alone`)
  return undefined
}

/** How many devices of each alias there are, as capabilities */
export const pciDevices: InspectionHook = {
  name: 'pci-devices',
  async run(input) {
    if (!('pci_devices' in input.pluginData)) return
    const aliases = new Map(
      input.task.config.inspector.pci_device_alias.flatMap((entry) => {
        const alias = readAlias(entry, input)
        return alias === undefined ? [] : [[alias.key, alias.name] as const]
      }),
    )
    const counts = new Map<string, number>()
    for (const device of pciList(input, input.pluginData.pci_devices)) {
      const key = `${device.vendor_id}:${device.product_id}`
      if (aliases.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    // where two ids have one name, the count of the later one stands
    const named = Object.fromEntries([...counts].map(([key, count]) => [aliases.get(key), count]))
    if (counts.size > 0) await addCapabilities(input, named)
  },
}

export interface PciDevice {
  readonly vendor_id: string
  readonly product_id: string
  readonly bus?: string
}

/** The PCI devices of the ramdisk. @throws InvalidNodeInventory when one lacks its ids */
export function pciList(input: HookInput, devices: unknown): PciDevice[] {
  const isDevice = (device: unknown): device is PciDevice =>
    typeof device === 'object' && device !== null && 'vendor_id' in device && 'product_id' in device
  if (!Array.isArray(devices) || !devices.every(isDevice))
    throw badInventory(input, 'each PCI device needs vendor_id and product_id')
  return devices
}
