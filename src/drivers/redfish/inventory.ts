import { nodeCapability, updateCapabilities } from '../../domain/capabilities.ts'
import type { Resource } from '../../lib/redfish/bmc.ts'
import { bootOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'
import {
  Chassis,
  EthernetInterface,
  NetworkAdapter,
  NetworkPort,
  PcieDevice,
  PcieFunction,
  Processor,
} from '../../lib/redfish/resources.ts'
import { isObject, link, links } from '../../lib/redfish/shape.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'
import { bootModeNamed } from './boot-mode-change.ts'
import { localGb, readStorage, type StorageFacts } from './storage-inventory.ts'

/** Architectures as Ironic names them, by Redfish's `InstructionSet`. */
const architectures: Readonly<Record<string, string>> = {
  'ARM-A32': 'arm',
  'ARM-A64': 'aarch64',
  'IA-64': 'ia64',
  MIPS32: 'mips',
  MIPS64: 'mips64',
  x86: 'i686',
  'x86-64': 'x86_64',
}

export interface HardwareFacts {
  /** as the agent would tell it */
  readonly inventory: JsonDict
  readonly pluginData: JsonDict
  /** what goes into `properties` of the node */
  readonly properties: JsonDict
}

/** What the BMC knows of the hardware. A part that it does not tell of is left out. */
export async function readInventory(task: Task, system: SystemResource): Promise<HardwareFacts> {
  const inventory: JsonDict = {}
  const properties: JsonDict = {}
  const memory = system.data.MemorySummary?.TotalSystemMemoryGiB
  if (memory) {
    properties['memory_mb'] = Math.trunc(memory) * 1024
    inventory['memory'] = { physical_mb: Math.trunc(memory) * 1024 }
  }
  inventory['cpu'] = await readCpu(system)
  const storage = await readStorage(task, system)
  properties['local_gb'] = localGb(storage)
  if (properties['local_gb'] === 0)
    task.log.warning(`The BMC of node ${task.node.uuid} tells of no disk; it is taken to have none`)
  addStorage(inventory, storage)
  inventory['interfaces'] = await readInterfaces(task, system)
  const pci = await optional(task, 'PCIe devices', () => readPci(system), [])
  if (pci.length > 0) inventory['pci_devices'] = pci
  const vendor = systemVendor(system)
  if (Object.keys(vendor).length > 0) inventory['system_vendor'] = vendor
  const mode = bootModeNamed((await bootOf(system)).BootSourceOverrideMode)
  if (mode !== null) {
    inventory['boot'] = { current_boot_mode: mode }
    if (nodeCapability(task.node, 'boot_mode') === undefined)
      properties['capabilities'] = updateCapabilities(task.node.properties?.['capabilities'] as string, {
        boot_mode: mode,
      })
  }
  const lldp = await optional(task, 'LLDP neighbours', () => readLldp(system), {})
  return { inventory, properties, pluginData: Object.keys(lldp).length > 0 ? { parsed_lldp: lldp } : {} }
}

/** A part of the inventory that many BMCs lack or get wrong. */
async function optional<T>(task: Task, what: string, read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof RedfishProblem)) throw error
    task.log.debug(`The BMC of node ${task.node.uuid} tells of no ${what}`, { error })
    return otherwise
  }
}

async function readCpu(system: SystemResource): Promise<JsonDict> {
  const cpu: JsonDict = { count: 0, architecture: '' }
  const processors = await system.bmc.membersIfAny(Processor, system.data.Processors)
  const [first] = processors
  if (first === undefined) return cpu
  cpu['count'] = processors.reduce((sum, processor) => sum + (processor.data.TotalThreads ?? 0), 0)
  if (first.data.Model !== undefined) cpu['model_name'] = first.data.Model
  if (first.data.MaxSpeedMHz !== undefined) cpu['frequency'] = first.data.MaxSpeedMHz
  cpu['architecture'] = architectures[first.data.InstructionSet ?? ''] ?? ''
  return cpu
}

function addStorage(inventory: JsonDict, storage: StorageFacts): void {
  if (storage.disks.length > 0) inventory['disks'] = storage.disks
  if (storage.controllers.length > 0) inventory['storage_controllers'] = storage.controllers
}

const macPattern = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i

async function readInterfaces(task: Task, system: SystemResource): Promise<JsonDict[]> {
  const found: JsonDict[] = []
  for (const nic of await system.bmc.membersIfAny(EthernetInterface, system.data.EthernetInterfaces)) {
    const address = nic.data.MACAddress ?? ''
    if (!macPattern.test(address)) {
      task.log.warning(
        `Interface ${nic.id} of node ${task.node.uuid} has no valid MAC ("${address}"); it is passed over`,
      )
      continue
    }
    const { SpeedMbps } = nic.data
    found.push({
      mac_address: address.toLowerCase().replaceAll('-', ':'),
      name: nic.id,
      ...(SpeedMbps !== undefined && { speed_mbps: Math.trunc(SpeedMbps) }),
    })
  }
  return found
}

function systemVendor(system: SystemResource): JsonDict {
  const { Model, SerialNumber, Manufacturer, UUID } = system.data
  return Object.fromEntries(
    Object.entries({
      product_name: Model,
      serial_number: SerialNumber,
      manufacturer: Manufacturer,
      system_uuid: UUID,
    }).filter(([, value]) => Boolean(value)),
  )
}

async function readPci(system: SystemResource): Promise<JsonDict[]> {
  const found: JsonDict[] = []
  for (const device of await pciDevices(system)) {
    const functions = await system.bmc.membersIfAny(PcieFunction, device.data.PCIeFunctions)
    for (const { data } of functions) {
      const facts = Object.entries({
        class: data.DeviceClass,
        product_id: data.DeviceId,
        vendor_id: data.VendorId,
        subsystem_id: data.SubsystemId,
        subsystem_vendor_id: data.SubsystemVendorId,
        revision: data.RevisionId,
      }).filter(([, value]) => value !== undefined)
      if (facts.length > 0) found.push(Object.fromEntries(facts))
    }
  }
  return found
}

/** Listed in the system itself (ComputerSystem 1.2), or by a collection that it links. */
async function pciDevices(system: SystemResource): Promise<Resource<typeof PcieDevice.shape>[]> {
  const told = system.data.PCIeDevices
  const collection = link(told)
  if (collection !== undefined) return system.bmc.membersIfAny(PcieDevice, collection)
  const found: Resource<typeof PcieDevice.shape>[] = []
  for (const path of links(told) ?? []) {
    const device = await system.bmc.find(PcieDevice, path)
    if (device !== null) found.push(device)
  }
  return found
}

const lldpNames: Readonly<Record<string, string>> = {
  ChassisId: 'switch_chassis_id',
  PortId: 'switch_port_id',
  SystemName: 'switch_system_name',
  SystemDescription: 'switch_system_description',
  ManagementVlanId: 'switch_vlan_id',
}

/** What network adapters heard by LLDP, by the id of their port. */
async function readLldp(system: SystemResource): Promise<JsonDict> {
  const heard: JsonDict = {}
  for (const chassisPath of system.data.Links?.Chassis ?? []) {
    const chassis = await system.bmc.find(Chassis, chassisPath)
    for (const adapter of await system.bmc.membersIfAny(NetworkAdapter, chassis?.data.NetworkAdapters)) {
      for (const port of await system.bmc.membersIfAny(NetworkPort, adapter.data.Ports)) {
        const received = port.data.Ethernet?.LLDPReceive
        if (!isObject(received)) continue
        const facts = Object.entries(lldpNames).flatMap(([name, ours]) =>
          received[name] ? [[ours, received[name]]] : [],
        )
        if (facts.length > 0) heard[port.id] = Object.fromEntries(facts) as JsonDict
      }
    }
  }
  return heard
}
