import { defineError } from './define.ts'
import { Conflict, Invalid, InvalidParameterValue, InvalidState, NotFound } from './base.ts'

export const BIOSSettingAlreadyExists = defineError<{ name: unknown; node: unknown }>(
  'BIOSSettingAlreadyExists',
  Conflict,
  (p) => `BIOS setting row exists: name ${p.name}, node ${p.node}.`,
)
export const BIOSSettingListNotFound = defineError<{ node: unknown; names: unknown }>(
  'BIOSSettingListNotFound',
  NotFound,
  (p) => `Node lacks several BIOS settings: node ${p.node}, names ${p.names}.`,
)
export const BIOSSettingNotFound = defineError<{ node: unknown; name: unknown }>(
  'BIOSSettingNotFound',
  NotFound,
  (p) => `Node lacks the BIOS setting: node ${p.node}, name ${p.name}.`,
)
export const BootModeNotAllowed = defineError<{ mode: unknown; op: unknown }>(
  'BootModeNotAllowed',
  Invalid,
  (p) => `Operator disallowed this boot mode: mode ${p.mode}, op ${p.op}.`,
)
export const ConsoleContainerError = defineError<{ provider: unknown; reason: unknown }>(
  'ConsoleContainerError',
  500,
  (p) => `Console container runtime failed: provider ${p.provider}, reason ${p.reason}.`,
)
export const ConsoleError = defineError<Record<string, never>>('ConsoleError', 500, () => 'Generic console failure.')
export const ConsoleSubprocessFailed = defineError<{ error: unknown }>(
  'ConsoleSubprocessFailed',
  ConsoleError,
  (p) => `Console process did not start: error ${p.error}.`,
)
export const DriverOperationError = defineError<{ driver: unknown; reason: unknown }>(
  'DriverOperationError',
  500,
  (p) => `Driver call failed at run time: driver ${p.driver}, reason ${p.reason}.`,
)
export const DracOperationError = defineError<{ error: unknown }>(
  'DracOperationError',
  DriverOperationError,
  (p) => `IDRAC call failed: error ${p.error}.`,
)
export const DriverLoadError = defineError<{ driver: unknown; reason: unknown }>(
  'DriverLoadError',
  500,
  (p) => `${p.driver} could not be loaded: ${p.reason}.`,
)
export const DriverNotFound = defineError<{ driver_name: unknown }>(
  'DriverNotFound',
  NotFound,
  (p) => `The hardware type ${p.driver_name} is not known here; see [DEFAULT]enabled_hardware_types.`,
)
export const DriverNotFoundInEntrypoint = defineError<{ option: string; names: unknown; known: readonly string[] }>(
  'DriverNotFoundInEntrypoint',
  DriverNotFound,
  (p) =>
    `[DEFAULT]${p.option} names ${p.names}, which does not exist; there are ${p.known.join(', ')}. Change the option.`,
)
export const FailedToCleanDHCPOpts = defineError<{ node: unknown }>(
  'FailedToCleanDHCPOpts',
  500,
  (p) => `DHCP options cleanup failed: node ${p.node}.`,
)
export const FirmwareComponentAlreadyExists = defineError<{ name: unknown; node: unknown }>(
  'FirmwareComponentAlreadyExists',
  Conflict,
  (p) => `Firmware component row exists: name ${p.name}, node ${p.node}.`,
)
export const FirmwareComponentNotFound = defineError<{ node: unknown; name: unknown }>(
  'FirmwareComponentNotFound',
  NotFound,
  (p) => `Node lacks the firmware component: node ${p.node}, name ${p.name}.`,
)
export const HardwareInspectionFailure = defineError<{ error: unknown }>(
  'HardwareInspectionFailure',
  500,
  (p) => `Inspection went wrong: error ${p.error}.`,
)
export const IPMIFailure = defineError<{ cmd: unknown }>(
  'IPMIFailure',
  500,
  (p) => `IPMI command failed: cmd ${p.cmd}.`,
)
export const IncompatibleInterface = defineError<{
  interface_type: unknown
  interface_impl: unknown
  hardware_type: unknown
}>(
  'IncompatibleInterface',
  InvalidParameterValue,
  (p) =>
    `The hardware type ${p.hardware_type} does not work with the ${p.interface_type} interface ${p.interface_impl}.`,
)
export const InterfaceNotFoundInEntrypoint = defineError<{ entrypoint: unknown; iface: unknown; valid: unknown }>(
  'InterfaceNotFoundInEntrypoint',
  InvalidParameterValue,
  (p) => `There is no interface ${p.iface} enabled in ${p.entrypoint}; enabled are: ${p.valid}.`,
)
export const MissingParameterValue = defineError<{ err: unknown }>(
  'MissingParameterValue',
  InvalidParameterValue,
  (p) => `A needed parameter is absent: err ${p.err}.`,
)
export const NoValidDefaultForInterface = defineError<{ node_info: unknown; driver: unknown; interface_type: unknown }>(
  'NoValidDefaultForInterface',
  InvalidParameterValue,
  (p) =>
    `The hardware type ${p.driver}${p.node_info} has no default for its ${p.interface_type} interface: enable one that it supports.`,
)
export const PowerStateFailure = defineError<{ pstate: unknown }>(
  'PowerStateFailure',
  InvalidState,
  (p) => `The node did not reach power state "${p.pstate}" in time.`,
)
export const RedfishError = defineError<{ error: unknown }>(
  'RedfishError',
  DriverOperationError,
  (p) => `The BMC did not do what was asked by Redfish: ${p.error}`,
)
export const RedfishConnectionError = defineError<{ node: unknown; error: unknown }>(
  'RedfishConnectionError',
  RedfishError,
  (p) =>
    `The BMC of node ${p.node} cannot be reached by Redfish: ${p.error}. Check redfish_address in driver_info, and the network to it.`,
)
export const SNMPFailure = defineError<{ operation: unknown; error: unknown }>(
  'SNMPFailure',
  DriverOperationError,
  (p) => `SNMP call failed: operation ${p.operation}, error ${p.error}.`,
)
export const UnsupportedDriverExtension = defineError<{ driver: unknown; extension: unknown }>(
  'UnsupportedDriverExtension',
  Invalid,
  (p) => `The driver ${p.driver} does not support ${p.extension}, or it is not enabled.`,
)
export const UnsupportedHardwareFeature = defineError<{ node: unknown; feature: unknown }>(
  'UnsupportedHardwareFeature',
  Invalid,
  (p) => `The hardware of node ${p.node} has no ${p.feature}.`,
)
export const VendorPassthruException = defineError<Record<string, never>>(
  'VendorPassthruException',
  500,
  () => 'Vendor method failed.',
)
