import { defineError } from './define.ts'
import { ClientSideError, Conflict, Invalid, NotAuthorized, NotFound } from './base.ts'
import { ConsoleError } from './driver.ts'
import { ImageNotFound, InvalidImage } from './image.ts'
import { TraitBasedNetworkingException } from './runbook.ts'

export const ConfigInvalid = defineError<{ error_msg: unknown }>(
  'ConfigInvalid',
  500,
  (p) => `Configuration is wrong: error_msg ${p.error_msg}.`,
)
export const ConfigNotFound = defineError<{ path: unknown }>(
  'ConfigNotFound',
  500,
  (p) => `Configuration file is missing: path ${p.path}.`,
)
export const DHCPLoadError = defineError<{ dhcp_provider_name: unknown; reason: unknown }>(
  'DHCPLoadError',
  500,
  (p) => `DHCP provider plugin not loadable: dhcp_provider_name ${p.dhcp_provider_name}, reason ${p.reason}.`,
)
export const DatabaseVersionTooOld = defineError<Record<string, never>>(
  'DatabaseVersionTooOld',
  500,
  () => 'Schema needs an older release first.',
)
export const DirectoryNotWritable = defineError<{ dir: unknown }>(
  'DirectoryNotWritable',
  500,
  (p) => `Directory cannot be written: dir ${p.dir}.`,
)
export const FailedToGetIPAddressOnPort = defineError<{ port_id: unknown }>(
  'FailedToGetIPAddressOnPort',
  500,
  (p) => `Port address lookup failed: port_id ${p.port_id}.`,
)
export const FailedToGetSensorData = defineError<{ node: unknown; error: unknown }>(
  'FailedToGetSensorData',
  500,
  (p) => `Sensor reading failed: node ${p.node}, error ${p.error}.`,
)
export const FailedToParseSensorData = defineError<{ node: unknown; error: unknown }>(
  'FailedToParseSensorData',
  500,
  (p) => `Sensor output not understood: node ${p.node}, error ${p.error}.`,
)
export const FailedToUpdateDHCPOptOnPort = defineError<{ port_id: unknown }>(
  'FailedToUpdateDHCPOptOnPort',
  500,
  (p) => `DHCP options update failed: port_id ${p.port_id}.`,
)
export const FailedToUpdateMacOnPort = defineError<{ port_id: unknown }>(
  'FailedToUpdateMacOnPort',
  500,
  (p) => `Network port MAC change failed: port_id ${p.port_id}.`,
)
export const FileSystemNotSupported = defineError<{ fs: unknown }>(
  'FileSystemNotSupported',
  500,
  (p) => `Unknown file system type: fs ${p.fs}.`,
)
export const HTTPNotFound = defineError<Record<string, never>>('HTTPNotFound', 404, () => 'Generic missing resource.')
export const IncompleteLookup = defineError<Record<string, never>>(
  'IncompleteLookup',
  Invalid,
  () => 'Lookup without any identifier.',
)
export const InputFileError = defineError<{ file_name: unknown; reason: unknown }>(
  'InputFileError',
  500,
  (p) => `A file could not be read: file_name ${p.file_name}, reason ${p.reason}.`,
)
export const InvalidConductorGroup = defineError<{ group: unknown }>(
  'InvalidConductorGroup',
  Invalid,
  (p) => `Bad conductor group text: group ${p.group}.`,
)
export const InvalidContent = defineError<Record<string, never>>(
  'InvalidContent',
  Invalid,
  () => 'Content looks unsafe.',
)
export const InvalidDatapathID = defineError<{ datapath_id: unknown }>(
  'InvalidDatapathID',
  Invalid,
  (p) => `OpenFlow datapath id is malformed: datapath_id ${p.datapath_id}.`,
)
export const InvalidEndpoint = defineError<Record<string, never>>(
  'InvalidEndpoint',
  500,
  () => 'Service endpoint is unusable.',
)
export const InvalidIPAddress = defineError<{ ip_address: unknown }>(
  'InvalidIPAddress',
  500,
  (p) => `Value is no IP address: ip_address ${p.ip_address}.`,
)
export const InvalidIPv4Address = defineError<{ ip_address: unknown }>(
  'InvalidIPv4Address',
  500,
  (p) => `Value is no IPv4 address: ip_address ${p.ip_address}.`,
)
export const InvalidIdentity = defineError<{ identity: unknown }>(
  'InvalidIdentity',
  Invalid,
  (p) => `Value is neither uuid nor integer: identity ${p.identity}.`,
)
export const InvalidInput = defineError<Record<string, never>>(
  'InvalidInput',
  ClientSideError,
  () => 'Named field has a bad value.',
)
export const InvalidKickstartFile = defineError<Record<string, never>>(
  'InvalidKickstartFile',
  Invalid,
  () => 'Kickstart file failed its check.',
)
export const InvalidKickstartTemplate = defineError<Record<string, never>>(
  'InvalidKickstartTemplate',
  Invalid,
  () => 'Kickstart template lacks variables.',
)
export const InvalidMetricConfig = defineError<Record<string, never>>(
  'InvalidMetricConfig',
  Invalid,
  () => 'Metrics settings are wrong.',
)
export const InvalidName = defineError<{ name: unknown }>(
  'InvalidName',
  Invalid,
  (p) => `Value is no logical name: name ${p.name}.`,
)
export const InvalidNodeInventory = defineError<{ node: unknown; reason: unknown }>(
  'InvalidNodeInventory',
  Invalid,
  (p) => `Inventory content is wrong: node ${p.node}, reason ${p.reason}.`,
)
export const InvalidRunbook = defineError<{ err: unknown }>(
  'InvalidRunbook',
  Invalid,
  (p) => `Runbook content is wrong: err ${p.err}.`,
)
export const InvalidSwitchID = defineError<{ switch_id: unknown }>(
  'InvalidSwitchID',
  Invalid,
  (p) => `Switch id is malformed: switch_id ${p.switch_id}.`,
)
export const InvalidUUID = defineError<{ uuid: unknown }>(
  'InvalidUUID',
  Invalid,
  (p) => `Value is no uuid: uuid ${p.uuid}.`,
)
export const InvalidUuidOrName = defineError<{ name: unknown }>(
  'InvalidUuidOrName',
  Invalid,
  (p) => `Value is neither uuid nor name: name ${p.name}.`,
)
export const MalformedRequestURI = defineError<Record<string, never>>(
  'MalformedRequestURI',
  Invalid,
  () => 'Path makes no sense here.',
)
export const MetricsNotSupported = defineError<Record<string, never>>(
  'MetricsNotSupported',
  500,
  () => 'Metrics backend lacks the action.',
)
export const NoConsolePid = defineError<{ pid_path: unknown }>(
  'NoConsolePid',
  ConsoleError,
  (p) => `Console pid not readable: pid_path ${p.pid_path}.`,
)
export const NoDriversLoaded = defineError<{ conductor: unknown }>(
  'NoDriversLoaded',
  500,
  (p) => `Conductor start without hardware types: conductor ${p.conductor}.`,
)
export const NotificationPayloadError = defineError<{ class_name: unknown }>(
  'NotificationPayloadError',
  500,
  (p) => `Payload sent before filling: class_name ${p.class_name}.`,
)
export const NotificationSchemaKeyError = defineError<{ obj: unknown; field: unknown; key: unknown }>(
  'NotificationSchemaKeyError',
  500,
  (p) => `Payload source field missing: obj ${p.obj}, field ${p.field}, key ${p.key}.`,
)
export const NotificationSchemaObjectError = defineError<{ obj: unknown; source: unknown }>(
  'NotificationSchemaObjectError',
  500,
  (p) => `Payload source object missing: obj ${p.obj}, source ${p.source}.`,
)
export const OciImageNotSpecific = defineError<{ image_ref: unknown }>(
  'OciImageNotSpecific',
  InvalidImage,
  (p) => `OCI reference is ambiguous: image_ref ${p.image_ref}.`,
)
export const OciImageTagNotFound = defineError<{ image_url: unknown; tags: unknown }>(
  'OciImageTagNotFound',
  ImageNotFound,
  (p) => `OCI tag does not exist: image_url ${p.image_url}, tags ${p.tags}.`,
)
export const OperationNotPermitted = defineError<Record<string, never>>(
  'OperationNotPermitted',
  NotAuthorized,
  () => 'Combination of filters or action forbidden.',
)
export const ParentNodeLocked = defineError<{ node: unknown; parent: unknown }>(
  'ParentNodeLocked',
  Conflict,
  (p) => `Parent node is locked: node ${p.node}, parent ${p.parent}.`,
)
export const PasswordFileFailedToCreate = defineError<{ error: unknown }>(
  'PasswordFileFailedToCreate',
  500,
  (p) => `Temporary password file failed: error ${p.error}.`,
)
export const PatchError = defineError<{ patch: unknown; reason: unknown }>(
  'PatchError',
  Invalid,
  (p) => `JSON patch could not be applied: patch ${p.patch}, reason ${p.reason}.`,
)
export const PathNotFound = defineError<{ dir: unknown }>(
  'PathNotFound',
  500,
  (p) => `Directory is missing: dir ${p.dir}.`,
)
export const RFBAuthHandshakeFailed = defineError<{ reason: unknown }>(
  'RFBAuthHandshakeFailed',
  500,
  (p) => `VNC authentication failed: reason ${p.reason}.`,
)
export const RFBAuthNoAvailableScheme = defineError<{ allowed_types: unknown; desired_types: unknown }>(
  'RFBAuthNoAvailableScheme',
  500,
  (p) => `No common VNC auth scheme: allowed_types ${p.allowed_types}, desired_types ${p.desired_types}.`,
)
export const SecurityProxyNegotiationFailed = defineError<{ reason: unknown }>(
  'SecurityProxyNegotiationFailed',
  500,
  (p) => `VNC security negotiation failed: reason ${p.reason}.`,
)
export const ServiceLookupFailure = defineError<{ service: unknown }>(
  'ServiceLookupFailure',
  500,
  (p) => `MDNS lookup found nothing: service ${p.service}.`,
)
export const ServiceRegistrationFailure = defineError<{ service: unknown; error: unknown }>(
  'ServiceRegistrationFailure',
  500,
  (p) => `MDNS registration failed: service ${p.service}, error ${p.error}.`,
)
export const ServiceUnavailable = defineError<Record<string, never>>(
  'ServiceUnavailable',
  500,
  () => 'Peer service not reachable.',
)
export const SwitchNotFound = defineError<{ switch_id: unknown }>(
  'SwitchNotFound',
  NotFound,
  (p) => `Switch unknown or without support: switch_id ${p.switch_id}.`,
)
export const TBNAttributeRetrievalException = defineError<{ attr_name: unknown }>(
  'TBNAttributeRetrievalException',
  TraitBasedNetworkingException,
  (p) => `Rule attribute not readable: attr_name ${p.attr_name}.`,
)
export const TBNComparatorCollectionTypeMismatch = defineError<Record<string, never>>(
  'TBNComparatorCollectionTypeMismatch',
  TraitBasedNetworkingException,
  () => 'Collection compared to scalar.',
)
export const TBNComparatorPrefixMatchTypeMismatch = defineError<Record<string, never>>(
  'TBNComparatorPrefixMatchTypeMismatch',
  TraitBasedNetworkingException,
  () => 'Prefix match on non-text.',
)
export const TBNNoPortMatchesFound = defineError<Record<string, never>>(
  'TBNNoPortMatchesFound',
  TraitBasedNetworkingException,
  () => 'No port satisfies the traits.',
)
export const TBNNoTraitsApplicableToNode = defineError<{ node: unknown }>(
  'TBNNoTraitsApplicableToNode',
  TraitBasedNetworkingException,
  (p) => `Node has no networking traits: node ${p.node}.`,
)
export const Unauthorized = defineError<Record<string, never>>(
  'Unauthorized',
  401,
  () => 'Credentials missing or wrong.',
)
export const UnknownArgument = defineError<Record<string, never>>(
  'UnknownArgument',
  ClientSideError,
  () => 'Argument is not known.',
)
export const UnknownAttribute = defineError<Record<string, never>>(
  'UnknownAttribute',
  ClientSideError,
  () => 'Attribute is not known.',
)
