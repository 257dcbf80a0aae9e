import {
  action,
  anything,
  dictionary,
  flag,
  link,
  links,
  listOf,
  number,
  object,
  oneOf,
  resourceKind,
  text,
} from './shape.ts'

/*
 * The resources that we read, as data (schemas: DMTF DSP8010). Only what somebody uses is here; a property that a new use needs
 * is one line more.
 */

const status = object({
  Health: oneOf('OK', 'Warning', 'Critical'),
  HealthRollup: oneOf('OK', 'Warning', 'Critical'),
  State: text,
})
const message = object({
  MessageId: text,
  Message: text,
  MessageArgs: listOf(anything),
  Severity: oneOf('OK', 'Warning', 'Critical'),
})

/** Where a setting is written that takes effect later (DSP0266 "Settings resource"). */
const settings = object({
  SettingsObject: link,
  ETag: text,
  Time: text,
  Messages: listOf(message),
  SupportedApplyTimes: listOf(text),
})

export const indicatorLed = oneOf('Lit', 'Blinking', 'Off', 'Unknown')

export const ServiceRoot = resourceKind('ServiceRoot', {
  RedfishVersion: text,
  Vendor: text,
  UUID: text,
  Systems: link,
  Managers: link,
  Chassis: link,
  SessionService: link,
  UpdateService: link,
  EventService: link,
  Tasks: link,
  Registries: link,
})

export const bootShape = {
  BootSourceOverrideTarget: text,
  BootSourceOverrideEnabled: oneOf('Once', 'Continuous', 'Disabled'),
  BootSourceOverrideMode: oneOf('UEFI', 'Legacy'),
  HttpBootUri: text,
  'BootSourceOverrideTarget@Redfish.AllowableValues': listOf(text),
}

export const ComputerSystem = resourceKind('ComputerSystem', {
  Id: text,
  Name: text,
  UUID: text,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  SKU: text,
  BiosVersion: text,
  PowerState: oneOf('On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused'),
  IndicatorLED: indicatorLed,
  LocationIndicatorActive: flag,
  Status: status,
  Boot: object(bootShape),
  BootProgress: object({ LastState: text }),
  MemorySummary: object({ TotalSystemMemoryGiB: number }),
  ProcessorSummary: object({ Count: number, LogicalProcessorCount: number, Model: text }),
  Links: object({ ManagedBy: links, Managers: links, Chassis: links }),
  Managers: links,
  VirtualMedia: link,
  Bios: link,
  SecureBoot: link,
  Processors: link,
  Memory: link,
  EthernetInterfaces: link,
  NetworkInterfaces: link,
  SimpleStorage: link,
  Storage: link,
  PCIeDevices: anything,
  Actions: object({ '#ComputerSystem.Reset': action }),
  '@Redfish.Settings': settings,
})

/** The resource that holds the boot settings still to be applied, where the system names one. */
export const SystemSettings = resourceKind('ComputerSystem', { Boot: object(bootShape) })

export const ActionInfo = resourceKind('ActionInfo', {
  Parameters: listOf(object({ Name: text, AllowableValues: listOf(text) })),
})

export const Manager = resourceKind('Manager', {
  Id: text,
  Name: text,
  UUID: text,
  ManagerType: text,
  Model: text,
  FirmwareVersion: text,
  DateTime: text,
  DateTimeLocalOffset: text,
  VirtualMedia: link,
  EthernetInterfaces: link,
  Status: status,
  Links: object({ ManagerForChassis: links, ManagerForServers: links }),
  Actions: object({ '#Manager.Reset': action }),
})

export const Chassis = resourceKind('Chassis', {
  Id: text,
  Name: text,
  UUID: text,
  ChassisType: text,
  SerialNumber: text,
  IndicatorLED: indicatorLed,
  NetworkAdapters: link,
  Thermal: link,
  Power: link,
  PCIeDevices: link,
  Status: status,
})

export const VirtualMedia = resourceKind('VirtualMedia', {
  Id: text,
  Name: text,
  MediaTypes: listOf(oneOf('CD', 'DVD', 'Floppy', 'USBStick')),
  Inserted: flag,
  Image: text,
  ImageName: text,
  ConnectedVia: text,
  WriteProtected: flag,
  TransferProtocolType: text,
  Actions: object({ '#VirtualMedia.InsertMedia': action, '#VirtualMedia.EjectMedia': action }),
})

export const Bios = resourceKind('Bios', {
  Id: text,
  AttributeRegistry: text,
  Attributes: dictionary,
  '@Redfish.Settings': settings,
  '@Redfish.SettingsApplyTime': object({ 'ApplyTime@Redfish.AllowableValues': listOf(text) }),
  Actions: object({ '#Bios.ResetBios': action, '#Bios.ChangePassword': action }),
})

export const SecureBoot = resourceKind('SecureBoot', {
  Id: text,
  SecureBootEnable: flag,
  SecureBootCurrentBoot: oneOf('Enabled', 'Disabled'),
  SecureBootMode: text,
  Actions: object({ '#SecureBoot.ResetKeys': action }),
})

export const EthernetInterface = resourceKind('EthernetInterface', {
  Id: text,
  Name: text,
  MACAddress: text,
  PermanentMACAddress: text,
  LinkStatus: text,
  SpeedMbps: number,
  Status: status,
})

export const Processor = resourceKind('Processor', {
  Id: text,
  ProcessorType: text,
  ProcessorArchitecture: text,
  InstructionSet: text,
  Manufacturer: text,
  Model: text,
  MaxSpeedMHz: number,
  TotalCores: number,
  TotalThreads: number,
  SerialNumber: text,
  Status: status,
})

export const SimpleStorage = resourceKind('SimpleStorage', {
  Id: text,
  Name: text,
  Devices: listOf(object({ Name: text, Manufacturer: text, Model: text, CapacityBytes: number, Status: status })),
})

export const Storage = resourceKind('Storage', {
  Id: text,
  Name: text,
  Drives: links,
  Volumes: link,
  Controllers: link,
  Links: object({ Drives: links }),
  StorageControllers: listOf(dictionary),
  Status: status,
})

export const StorageController = resourceKind('StorageController', {
  Id: text,
  Name: text,
  FirmwareVersion: text,
  SupportedRAIDTypes: listOf(text),
  ControllerInfo: dictionary,
})

export const Drive = resourceKind('Drive', {
  Id: text,
  Name: text,
  Model: text,
  Manufacturer: text,
  SerialNumber: text,
  MediaType: text,
  Revision: text,
  Protocol: text,
  CapacityBytes: number,
  PhysicalLocation: dictionary,
  IndicatorLED: indicatorLed,
  LocationIndicatorActive: flag,
  Identifiers: listOf(object({ DurableName: text, DurableNameFormat: text })),
  Status: status,
  Links: object({ Volumes: links }),
})

export const Volume = resourceKind('Volume', {
  Id: text,
  Name: text,
  CapacityBytes: number,
  RAIDType: text,
  VolumeType: text,
  Identifiers: listOf(object({ DurableName: text, DurableNameFormat: text })),
  Links: object({ Drives: links }),
  Status: status,
  Actions: object({ '#Volume.Initialize': action }),
})

export const VolumeCollection = resourceKind('VolumeCollection', {
  '@Redfish.OperationApplyTimeSupport': object({ SupportedValues: listOf(text) }),
})

export const NetworkAdapter = resourceKind('NetworkAdapter', {
  Id: text,
  Name: text,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  Ports: link,
  Controllers: listOf(object({ FirmwarePackageVersion: text })),
})

export const NetworkPort = resourceKind('Port', {
  Id: text,
  Ethernet: object({ LLDPReceive: dictionary }),
})

export const PcieDevice = resourceKind('PCIeDevice', {
  Id: text,
  Name: text,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  DeviceType: text,
  PCIeInterface: dictionary,
  PCIeFunctions: link,
  Links: object({ PCIeFunctions: links }),
})

export const PcieFunction = resourceKind('PCIeFunction', {
  Id: text,
  Name: text,
  VendorId: text,
  DeviceId: text,
  SubsystemId: text,
  SubsystemVendorId: text,
  RevisionId: text,
  DeviceClass: text,
  ClassCode: text,
  FunctionId: number,
  FunctionType: text,
})

const reading = {
  Name: text,
  MemberId: text,
  Status: status,
  PhysicalContext: text,
}

export const Thermal = resourceKind('Thermal', {
  Id: text,
  Fans: listOf(
    object({
      ...reading,
      FanName: text,
      Reading: number,
      ReadingUnits: text,
      MaxReadingRange: number,
      MinReadingRange: number,
      SerialNumber: text,
    }),
  ),
  Temperatures: listOf(
    object({
      ...reading,
      ReadingCelsius: number,
      MaxReadingRangeTemp: number,
      MinReadingRangeTemp: number,
      SensorNumber: number,
    }),
  ),
})

export const Power = resourceKind('Power', {
  Id: text,
  PowerSupplies: listOf(
    object({
      ...reading,
      PowerCapacityWatts: number,
      LineInputVoltage: number,
      LastPowerOutputWatts: number,
      SerialNumber: text,
    }),
  ),
})

export const UpdateService = resourceKind('UpdateService', {
  Id: text,
  FirmwareInventory: link,
  SoftwareInventory: link,
  Actions: object({ '#UpdateService.SimpleUpdate': action }),
})

export const Task = resourceKind('Task', {
  Id: text,
  Name: text,
  TaskState: text,
  TaskStatus: text,
  PercentComplete: number,
  TaskMonitor: text,
  Messages: listOf(message),
})

export const EventService = resourceKind('EventService', {
  Id: text,
  Subscriptions: link,
  EventTypesForSubscription: listOf(text),
  RegistryPrefixes: listOf(text),
  ResourceTypes: listOf(text),
})

export const EventDestination = resourceKind('EventDestination', {
  Id: text,
  Name: text,
  Context: text,
  Protocol: text,
  Destination: text,
  EventTypes: listOf(text),
})

export const RegistryFile = resourceKind('MessageRegistryFile', {
  Id: text,
  Registry: text,
  Languages: listOf(text),
  Location: listOf(
    object({ Language: text, Uri: anything, PublicationUri: text, ArchiveUri: text, ArchiveFile: text }),
  ),
})

export const AttributeRegistry = resourceKind('AttributeRegistry', {
  Id: text,
  Language: text,
  RegistryVersion: text,
  RegistryEntries: object({ Attributes: listOf(dictionary) }),
})

export const MessageRegistry = resourceKind('MessageRegistry', {
  Id: text,
  Language: text,
  RegistryPrefix: text,
  RegistryVersion: text,
  Messages: dictionary,
})
