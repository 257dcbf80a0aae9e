import type { Machine } from '../machine.ts'
import { collection, healthy } from './message.ts'
import type { BmcProfile } from './profile.ts'
import { chassisPath, managerPath, registryName, systemPath } from './system.ts'

const root = '/redfish/v1'
const link = (path: string) => ({ '@odata.id': path })

/** A long-running operation that the BMC tells about under its TaskService (DSP0266 section 8.7). */
export interface BmcTask {
  readonly id: string
  readonly name: string
  readonly started: Date
  state: 'Running' | 'Completed' | 'Exception'
  percent: number
}

export function rootBody(profile: BmcProfile, uuid: string): Record<string, unknown> {
  return {
    '@odata.id': `${root}/`,
    '@odata.type': '#ServiceRoot.v1_5_0.ServiceRoot',
    Id: 'RootService',
    Name: 'Root Service',
    RedfishVersion: '1.6.0',
    Vendor: profile.vendor,
    UUID: uuid,
    Systems: link(`${root}/Systems`),
    Managers: link(`${root}/Managers`),
    Chassis: link(`${root}/Chassis`),
    Tasks: link(`${root}/TaskService`),
    Registries: link(`${root}/Registries`),
    ...(profile.update ? { UpdateService: link(`${root}/UpdateService`) } : {}),
    ...(profile.sessions
      ? {
          SessionService: link(`${root}/SessionService`),
          Links: { Sessions: link(`${root}/SessionService/Sessions`) },
        }
      : {}),
  }
}

export function managerBody(
  machines: readonly Machine[],
  profile: BmcProfile,
  shape: { uuid: string; firmware: string; now: Date },
): Record<string, unknown> {
  return {
    '@odata.id': managerPath,
    '@odata.type': '#Manager.v1_3_0.Manager',
    Id: 'bmc',
    Name: 'Manager',
    ManagerType: 'BMC',
    FirmwareVersion: shape.firmware,
    Manufacturer: profile.vendor,
    UUID: shape.uuid,
    DateTime: shape.now.toISOString().replace(/\.\d+Z$/, '+00:00'),
    DateTimeLocalOffset: '+00:00',
    Status: healthy,
    PowerState: 'On',
    EthernetInterfaces: link(`${managerPath}/EthernetInterfaces`),
    ...(profile.mediaUnder === 'manager' ? { VirtualMedia: link(`${managerPath}/VirtualMedia`) } : {}),
    Links: {
      ManagerForServers: machines.map((machine) => link(systemPath(machine))),
      ManagerForChassis: machines.map((machine) => link(chassisPath(machine))),
    },
    Actions: {
      '#Manager.Reset': {
        target: `${managerPath}/Actions/Manager.Reset`,
        'ResetType@Redfish.AllowableValues': ['GracefulRestart', 'ForceRestart'],
      },
    },
  }
}

/** Chassis with its sensors and network adapter, by the path below it. */
export function chassisParts(machine: Machine, profile: BmcProfile): Record<string, Record<string, unknown>> {
  const path = chassisPath(machine)
  const on = machine.power === 'On' || machine.power === 'PoweringOff'
  return {
    '': {
      '@odata.id': path,
      '@odata.type': '#Chassis.v1_8_0.Chassis',
      Id: machine.identity.name,
      Name: machine.identity.name,
      UUID: machine.identity.uuid,
      ChassisType: 'RackMount',
      Manufacturer: profile.vendor,
      IndicatorLED: machine.indicator,
      PowerState: on ? 'On' : 'Off',
      Status: healthy,
      Thermal: link(`${path}/Thermal`),
      Power: link(`${path}/Power`),
      NetworkAdapters: link(`${path}/NetworkAdapters`),
      Links: {
        ComputerSystems: [link(systemPath(machine))],
        ManagedBy: [link(managerPath)],
        Drives: profile.storage ? [link(`${systemPath(machine)}/Storage/1/Drives/1`)] : [],
      },
    },
    Thermal: {
      '@odata.id': `${path}/Thermal`,
      '@odata.type': '#Thermal.v1_3_0.Thermal',
      Id: 'Thermal',
      Name: 'Thermal',
      Temperatures: [
        {
          '@odata.id': `${path}/Thermal#/Temperatures/0`,
          MemberId: '0',
          Name: 'CPU temperature',
          SensorNumber: 1,
          ReadingCelsius: on ? 45 : 25,
          UpperThresholdCritical: 90,
          UpperThresholdFatal: 100,
          LowerThresholdCritical: 5,
          MinReadingRangeTemp: 0,
          MaxReadingRangeTemp: 200,
          PhysicalContext: 'CPU',
          Status: healthy,
        },
      ],
      Fans: [
        {
          '@odata.id': `${path}/Thermal#/Fans/0`,
          MemberId: '0',
          Name: 'Fan 1',
          Reading: on ? 2100 : 0,
          ReadingUnits: 'RPM',
          LowerThresholdFatal: 0,
          MinReadingRange: 0,
          MaxReadingRange: 5000,
          PhysicalContext: 'Backplane',
          Status: healthy,
        },
      ],
    },
    Power: {
      '@odata.id': `${path}/Power`,
      '@odata.type': '#Power.v1_3_0.Power',
      Id: 'Power',
      Name: 'Power',
      PowerSupplies: [
        {
          '@odata.id': `${path}/Power#/PowerSupplies/0`,
          MemberId: '0',
          Name: 'Power supply 1',
          Model: 'Lab supply',
          Manufacturer: profile.vendor,
          PowerSupplyType: 'AC',
          PowerCapacityWatts: 800,
          LastPowerOutputWatts: on ? 325 : 12,
          LineInputVoltage: 230,
          LineInputVoltageType: 'ACMidLine',
          SerialNumber: `${machine.identity.serial}-P1`,
          FirmwareVersion: '1.0',
          Status: healthy,
        },
      ],
    },
    NetworkAdapters: collection(`${path}/NetworkAdapters`, 'NetworkAdapter', [`${path}/NetworkAdapters/1`]),
    'NetworkAdapters/1': {
      '@odata.id': `${path}/NetworkAdapters/1`,
      '@odata.type': '#NetworkAdapter.v1_5_0.NetworkAdapter',
      Id: '1',
      Name: 'Network adapter 1',
      Manufacturer: profile.vendor,
      Model: 'Lab adapter',
      Status: healthy,
      Controllers: [{ FirmwarePackageVersion: '3.0.0' }],
    },
  }
}

export function taskBody(task: BmcTask): Record<string, unknown> {
  const done = task.state === 'Completed'
  return {
    '@odata.id': `${root}/TaskService/Tasks/${task.id}`,
    '@odata.type': '#Task.v1_4_3.Task',
    Id: task.id,
    Name: task.name,
    TaskState: task.state,
    TaskStatus: task.state === 'Exception' ? 'Critical' : 'OK',
    PercentComplete: task.percent,
    StartTime: task.started.toISOString().replace(/\.\d+Z$/, '+00:00'),
    TaskMonitor: `${root}/TaskService/TaskMonitors/${task.id}`,
    Messages: [
      {
        MessageId: done ? 'Update.1.0.UpdateSuccessful' : 'Update.1.0.UpdateInProgress',
        Message: done ? 'Done' : 'In progress',
        MessageArgs: [],
        Severity: 'OK',
      },
    ],
  }
}

export const updateServiceBody = {
  '@odata.id': `${root}/UpdateService`,
  '@odata.type': '#UpdateService.v1_6_0.UpdateService',
  Id: 'UpdateService',
  Name: 'Update Service',
  ServiceEnabled: true,
  Status: healthy,
  FirmwareInventory: link(`${root}/UpdateService/FirmwareInventory`),
  Actions: {
    '#UpdateService.SimpleUpdate': {
      target: `${root}/UpdateService/Actions/UpdateService.SimpleUpdate`,
      'TransferProtocol@Redfish.AllowableValues': ['HTTP', 'HTTPS'],
    },
  },
}

export const registryFileBody = {
  '@odata.id': `${root}/Registries/${registryName}`,
  '@odata.type': '#MessageRegistryFile.v1_1_0.MessageRegistryFile',
  Id: registryName,
  Name: 'BIOS Attribute Registry',
  Registry: 'BiosAttributeRegistry.1.0',
  Languages: ['en'],
  Location: [{ Language: 'en', Uri: `${root}/Registries/${registryName}/registry.json` }],
}

/** The firmware settings that a machine of the lab has, and their first values. */
export const biosDefaults: Readonly<Record<string, unknown>> = {
  ProcTurboMode: 'Enabled',
  NumLock: 'On',
  QuietBoot: true,
  MaxRetry: 3,
}

export const registryBody = {
  '@odata.type': '#AttributeRegistry.v1_3_0.AttributeRegistry',
  Id: registryName,
  Name: 'BIOS Attribute Registry',
  Language: 'en',
  OwningEntity: 'Openkeel Lab',
  RegistryVersion: '1.0.0',
  SupportedSystems: [],
  RegistryEntries: {
    Attributes: [
      {
        AttributeName: 'ProcTurboMode',
        Type: 'Enumeration',
        DefaultValue: 'Enabled',
        ReadOnly: false,
        ResetRequired: true,
        Immutable: false,
        Value: [{ ValueName: 'Enabled' }, { ValueName: 'Disabled' }],
      },
      {
        AttributeName: 'NumLock',
        Type: 'Enumeration',
        ReadOnly: false,
        Value: [{ ValueName: 'On' }, { ValueName: 'Off' }],
      },
      { AttributeName: 'QuietBoot', Type: 'Boolean', ReadOnly: false },
      { AttributeName: 'MaxRetry', Type: 'Integer', LowerBound: 0, UpperBound: 9, ReadOnly: false },
    ],
  },
}
