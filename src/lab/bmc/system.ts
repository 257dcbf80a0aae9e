import type { Machine, MediaSlot } from '../machine.ts'
import { collection, healthy } from './message.ts'
import type { BmcProfile } from './profile.ts'

const root = '/redfish/v1'
const link = (path: string) => ({ '@odata.id': path })

/** Paths of what belongs to a machine. */
export const systemPath = (machine: Machine) => `${root}/Systems/${machine.identity.name}`
export const chassisPath = (machine: Machine) => `${root}/Chassis/${machine.identity.name}`
export const managerPath = `${root}/Managers/bmc`
export const registryName = 'BiosAttributeRegistry.v1_0_0'

export const bootTargets = ['None', 'Pxe', 'Cd', 'Hdd', 'Usb', 'BiosSetup', 'UefiHttp'] as const

/** Where the media drives of a machine are found. */
export function mediaPath(machine: Machine, profile: BmcProfile): string {
  return profile.mediaUnder === 'system' ? `${systemPath(machine)}/VirtualMedia` : `${managerPath}/VirtualMedia`
}

/** The power state as the BMC shows it. */
function shownPower(machine: Machine, profile: BmcProfile): string {
  if (profile.showsTransitions) return machine.power
  if (machine.power === 'PoweringOn') return 'Off'
  return machine.power === 'PoweringOff' ? 'On' : machine.power
}

export function systemBody(machine: Machine, profile: BmcProfile): Record<string, unknown> {
  const path = systemPath(machine)
  const { identity, boot } = machine
  return {
    '@odata.id': path,
    '@odata.type': '#ComputerSystem.v1_13_0.ComputerSystem',
    Id: identity.name,
    Name: identity.name,
    UUID: identity.uuid,
    Manufacturer: profile.vendor,
    Model: 'Lab machine',
    SKU: 'lab-1',
    SerialNumber: identity.serial,
    SystemType: 'Physical',
    AssetTag: '',
    BiosVersion: machine.biosVersion,
    IndicatorLED: machine.indicator,
    LocationIndicatorActive: machine.indicator !== 'Off',
    Status: { ...healthy, HealthRollup: 'OK' },
    PowerState: shownPower(machine, profile),
    Boot: {
      BootSourceOverrideEnabled: boot.enabled,
      BootSourceOverrideTarget: boot.target,
      BootSourceOverrideMode: boot.mode,
      'BootSourceOverrideTarget@Redfish.AllowableValues': bootTargets,
      'BootSourceOverrideMode@Redfish.AllowableValues': ['UEFI', 'Legacy'],
      ...(boot.uri === null ? {} : { HttpBootUri: boot.uri }),
    },
    MemorySummary: { TotalSystemMemoryGiB: identity.memoryMib / 1024, Status: healthy },
    ProcessorSummary: {
      Count: 1,
      Model: 'Lab processor',
      CoreCount: identity.cpus,
      LogicalProcessorCount: identity.cpus,
      Status: healthy,
    },
    Processors: link(`${path}/Processors`),
    Memory: link(`${path}/Memory`),
    EthernetInterfaces: link(`${path}/EthernetInterfaces`),
    ...(profile.bios ? { Bios: link(`${path}/Bios`) } : {}),
    ...(profile.secureBoot ? { SecureBoot: link(`${path}/SecureBoot`) } : {}),
    ...(profile.storage ? { Storage: link(`${path}/Storage`), SimpleStorage: link(`${path}/SimpleStorage`) } : {}),
    ...(profile.mediaUnder === 'system' ? { VirtualMedia: link(`${path}/VirtualMedia`) } : {}),
    Links: { ManagedBy: [link(managerPath)], Chassis: [link(chassisPath(machine))] },
    Actions: {
      '#ComputerSystem.Reset': {
        target: `${path}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': profile.resets,
      },
    },
  }
}

export function mediaBody(slot: MediaSlot, base: string): Record<string, unknown> {
  const path = `${base}/${slot.id}`
  return {
    '@odata.id': path,
    '@odata.type': '#VirtualMedia.v1_5_0.VirtualMedia',
    Id: slot.id,
    Name: `Virtual ${slot.id}`,
    MediaTypes: slot.mediaTypes,
    Image: slot.image ?? '',
    ImageName: slot.image?.split('/').at(-1) ?? '',
    Inserted: slot.image !== null,
    ConnectedVia: slot.image === null ? 'NotConnected' : 'URI',
    WriteProtected: true,
    TransferProtocolType: null,
    Actions: {
      '#VirtualMedia.InsertMedia': { target: `${path}/Actions/VirtualMedia.InsertMedia` },
      '#VirtualMedia.EjectMedia': { target: `${path}/Actions/VirtualMedia.EjectMedia` },
    },
  }
}

export function biosBody(machine: Machine): Record<string, unknown> {
  const path = `${systemPath(machine)}/Bios`
  return {
    '@odata.id': path,
    '@odata.type': '#Bios.v1_1_0.Bios',
    Id: 'Bios',
    Name: 'BIOS',
    AttributeRegistry: registryName,
    Attributes: Object.fromEntries(machine.bios),
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_0.Settings',
      SettingsObject: link(`${path}/Settings`),
      ETag: `"${machine.revision}"`,
      Time: '2026-01-01T00:00:00+00:00',
      Messages: [],
      SupportedApplyTimes: ['OnReset'],
    },
    Actions: {
      '#Bios.ResetBios': { target: `${path}/Actions/Bios.ResetBios` },
      '#Bios.ChangePassword': { target: `${path}/Actions/Bios.ChangePassword` },
    },
  }
}

export function biosSettingsBody(machine: Machine): Record<string, unknown> {
  return {
    '@odata.id': `${systemPath(machine)}/Bios/Settings`,
    '@odata.type': '#Bios.v1_1_0.Bios',
    Id: 'Settings',
    Name: 'BIOS pending settings',
    AttributeRegistry: registryName,
    Attributes: Object.fromEntries(machine.pendingBios),
  }
}

export function secureBootBody(machine: Machine): Record<string, unknown> {
  const path = `${systemPath(machine)}/SecureBoot`
  return {
    '@odata.id': path,
    '@odata.type': '#SecureBoot.v1_1_0.SecureBoot',
    Id: 'SecureBoot',
    Name: 'UEFI Secure Boot',
    SecureBootEnable: machine.secureBoot.enabled,
    SecureBootCurrentBoot: machine.secureBoot.current ? 'Enabled' : 'Disabled',
    SecureBootMode: 'UserMode',
    Actions: {
      '#SecureBoot.ResetKeys': {
        target: `${path}/Actions/SecureBoot.ResetKeys`,
        'ResetKeysType@Redfish.AllowableValues': ['ResetAllKeysToDefault', 'DeleteAllKeys', 'DeletePK'],
      },
    },
  }
}

/** What never changes below a System: processors, memory, network cards, storage. By the path below the System. */
export function fixedSystemParts(machine: Machine): ReadonlyMap<string, Record<string, unknown>> {
  const path = systemPath(machine)
  const { identity } = machine
  const mac = identity.mac.toUpperCase()
  const drive = `${path}/Storage/1/Drives/1`
  const bodies: Record<string, Record<string, unknown>> = {
    Processors: collection(`${path}/Processors`, 'Processor', [`${path}/Processors/CPU0`]),
    'Processors/CPU0': {
      '@odata.type': '#Processor.v1_0_0.Processor',
      Id: 'CPU0',
      Name: 'Processor',
      Socket: 'CPU 0',
      ProcessorType: 'CPU',
      ProcessorArchitecture: 'x86',
      InstructionSet: 'x86-64',
      Manufacturer: 'Openkeel Lab',
      Model: 'Lab processor',
      MaxSpeedMHz: 3000,
      TotalCores: identity.cpus,
      TotalThreads: identity.cpus,
      Status: healthy,
    },
    Memory: collection(`${path}/Memory`, 'Memory', [`${path}/Memory/1`]),
    'Memory/1': {
      '@odata.type': '#Memory.v1_7_0.Memory',
      Id: '1',
      Name: 'DIMM 1',
      CapacityMiB: identity.memoryMib,
      MemoryDeviceType: 'DDR4',
      Status: healthy,
    },
    EthernetInterfaces: collection(`${path}/EthernetInterfaces`, 'EthernetInterface', [
      `${path}/EthernetInterfaces/nic1`,
    ]),
    'EthernetInterfaces/nic1': {
      '@odata.type': '#EthernetInterface.v1_4_0.EthernetInterface',
      Id: 'nic1',
      Name: 'Network card 1',
      MACAddress: mac,
      PermanentMACAddress: mac,
      SpeedMbps: 10_000,
      LinkStatus: 'LinkUp',
      Status: healthy,
    },
    SimpleStorage: collection(`${path}/SimpleStorage`, 'SimpleStorage', [`${path}/SimpleStorage/1`]),
    'SimpleStorage/1': {
      '@odata.type': '#SimpleStorage.v1_2_0.SimpleStorage',
      Id: '1',
      Name: 'Simple storage',
      Devices: [{ Name: 'Disk 1', CapacityBytes: machine.disk.size, Status: healthy }],
    },
    Storage: collection(`${path}/Storage`, 'Storage', [`${path}/Storage/1`]),
    'Storage/1': {
      '@odata.type': '#Storage.v1_4_0.Storage',
      Id: '1',
      Name: 'Storage',
      Status: healthy,
      StorageControllers: [
        {
          '@odata.id': `${path}/Storage/1#/StorageControllers/0`,
          MemberId: '0',
          Name: 'Controller',
          SpeedGbps: 12,
          SupportedDeviceProtocols: ['SATA'],
          Status: healthy,
        },
      ],
      Drives: [link(drive)],
      Volumes: link(`${path}/Storage/1/Volumes`),
      Links: {},
    },
    'Storage/1/Volumes': collection(`${path}/Storage/1/Volumes`, 'Volume', []),
    'Storage/1/Drives/1': {
      '@odata.type': '#Drive.v1_4_0.Drive',
      Id: '1',
      Name: 'Disk 1',
      CapacityBytes: machine.disk.size,
      MediaType: 'SSD',
      Protocol: 'SATA',
      Model: 'Lab disk',
      SerialNumber: machine.disk.serial,
      IndicatorLED: 'Off',
      Status: healthy,
      Links: { Volumes: [] },
    },
  }
  return new Map(Object.entries(bodies).map(([below, body]) => [below, { '@odata.id': `${path}/${below}`, ...body }]))
}
