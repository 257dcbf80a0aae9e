import type { Allocation, Node, Port, Portgroup, VolumeConnector, VolumeTarget } from '../objects/index.ts'
import type { JsonDict, WithChanges } from '../objects/versioned-object.ts'
import { contract, method, type ClientOf, type ServiceOf } from './contract.ts'

/** `result`: true, false, or null where the interface is missing; `reason` when it is not true. */
export interface InterfaceValidation {
  result: boolean | null
  reason?: string
}

/** What a vendor method gave back: `async`: it runs on; `attach`: the return value is sent as a file. */
export interface VendorReply {
  return: unknown
  async: boolean
  attach: boolean
}

/**
 * The RPC interface of the conductor, version 1.62. `node_id` is a uuid (a name is resolved by the API); the trait methods have always had the integer id. Arguments in `newer`
 * are left out, and the message is sent with version `since`, unless they were given.
 */
export const conductorContract = contract('ironic.conductor_manager', '1.62', {
  add_node_traits: method<{ node_id: number | string; traits: string[] | null; replace?: boolean }, void>({
    since: '1.44',
    defaults: { replace: false },
    args: ['node_id', 'traits', 'replace'],
    errors: ['InvalidParameterValue', 'NodeLocked', 'NodeNotFound'],
  }),
  attach_virtual_media: method<
    { node_id: string; device_type: string; image_url: string; image_download_source?: string },
    void
  >({
    since: '1.59',
    args: ['node_id', 'device_type', 'image_url', 'image_download_source'],
    serverDefaults: { image_download_source: 'local' },
    errors: ['InvalidParameterValue', 'NoFreeConductorWorker', 'NodeLocked', 'UnsupportedDriverExtension'],
  }),
  change_node_boot_mode: method<{ node_id: string; new_state: string }, void>({
    since: '1.55',
    args: ['node_id', 'new_state'],
    errors: ['InvalidParameterValue', 'NoFreeConductorWorker', 'NodeLocked'],
  }),
  change_node_power_state: method<{ node_id: string; new_state: string; timeout?: number | null }, void>({
    since: '1.39',
    defaults: { timeout: null },
    args: ['node_id', 'new_state', 'timeout'],
    errors: ['InvalidParameterValue', 'NoFreeConductorWorker', 'NodeLocked'],
  }),
  change_node_secure_boot: method<{ node_id: string; new_state: boolean }, void>({
    since: '1.55',
    args: ['node_id', 'new_state'],
    errors: ['InvalidParameterValue', 'NoFreeConductorWorker', 'NodeLocked'],
  }),
  continue_inspection: method<{ node_id: string; inventory: JsonDict; plugin_data?: JsonDict | null }, void>({
    since: '1.56',
    defaults: { plugin_data: null },
    args: ['node_id', 'inventory', 'plugin_data'],
    errors: ['NodeLocked', 'NotFound', 'Invalid'],
  }),
  continue_node_clean: method<{ node_id: string }, void>({ since: '1.27', kind: 'cast', args: ['node_id'] }),
  continue_node_deploy: method<{ node_id: string }, void>({ since: '1.45', kind: 'cast', args: ['node_id'] }),
  continue_node_service: method<{ node_id: string }, void>({ since: '1.60', kind: 'cast', args: ['node_id'] }),
  create_allocation: method<{ allocation: WithChanges<Allocation> }, Allocation>({
    since: '1.48',
    args: ['allocation'],
    objects: { allocation: 'Allocation' },
    returns: 'Allocation',
    errors: ['InvalidParameterValue', 'NodeAssociated', 'InstanceAssociated', 'NodeNotFound'],
  }),
  create_node: method<{ node_obj: WithChanges<Node> }, Node>({
    since: '1.36',
    args: ['node_obj'],
    objects: { node_obj: 'Node' },
    returns: 'Node',
    errors: ['InvalidParameterValue', 'DriverNotFound'],
  }),
  create_port: method<{ port_obj: WithChanges<Port> }, Port>({
    since: '1.41',
    args: ['port_obj'],
    objects: { port_obj: 'Port' },
    returns: 'Port',
    errors: ['NodeLocked', 'Conflict', 'MACAlreadyExists', 'PortgroupPhysnetInconsistent'],
  }),
  destroy_allocation: method<{ allocation: WithChanges<Allocation> }, void>({
    since: '1.48',
    args: ['allocation'],
    objects: { allocation: 'Allocation' },
    errors: ['InvalidState'],
  }),
  destroy_node: method<{ node_id: string }, void>({
    since: '1.9',
    args: ['node_id'],
    errors: ['NodeLocked', 'NodeAssociated', 'InvalidState', 'NodeProtected'],
  }),
  destroy_port: method<{ port: WithChanges<Port> }, void>({
    since: '1.25',
    args: ['port'],
    objects: { port: 'Port' },
    errors: ['NodeLocked', 'NodeNotFound', 'InvalidState'],
  }),
  destroy_portgroup: method<{ portgroup: WithChanges<Portgroup> }, void>({
    since: '1.33',
    args: ['portgroup'],
    objects: { portgroup: 'Portgroup' },
    errors: ['NodeLocked', 'NodeNotFound', 'PortgroupNotEmpty'],
  }),
  destroy_volume_connector: method<{ connector: WithChanges<VolumeConnector> }, void>({
    since: '1.35',
    args: ['connector'],
    objects: { connector: 'VolumeConnector' },
    errors: ['NodeLocked', 'NodeNotFound', 'VolumeConnectorNotFound', 'InvalidStateRequested'],
  }),
  destroy_volume_target: method<{ target: WithChanges<VolumeTarget> }, void>({
    since: '1.37',
    args: ['target'],
    objects: { target: 'VolumeTarget' },
    errors: ['NodeLocked', 'NodeNotFound', 'VolumeTargetNotFound', 'InvalidStateRequested'],
  }),
  detach_virtual_media: method<{ node_id: string; device_types?: string[] | null }, void>({
    since: '1.59',
    defaults: { device_types: null },
    args: ['node_id', 'device_types'],
  }),
  do_node_clean: method<{ node_id: string; clean_steps: JsonDict[] | null; disable_ramdisk?: boolean | null }, void>({
    since: '1.32',
    withAll: '1.53',
    newer: ['disable_ramdisk'],
    defaults: { disable_ramdisk: false },
    args: ['node_id', 'clean_steps', 'disable_ramdisk'],
    errors: [
      'InvalidParameterValue',
      'InvalidStateRequested',
      'NodeInMaintenance',
      'NodeLocked',
      'NoFreeConductorWorker',
      'ConcurrentActionLimit',
      'StepNotAllowed',
    ],
  }),
  do_node_deploy: method<
    { node_id: string; rebuild?: boolean; configdrive?: string | JsonDict | null; deploy_steps?: JsonDict[] | null },
    void
  >({
    since: '1.22',
    withAll: '1.52',
    newer: ['deploy_steps'],
    defaults: { rebuild: false, configdrive: null, deploy_steps: null },
    args: ['node_id', 'rebuild', 'configdrive', 'deploy_steps'],
    errors: [
      'NoFreeConductorWorker',
      'NodeLocked',
      'NodeInMaintenance',
      'InstanceDeployFailure',
      'InvalidStateRequested',
      'NodeProtected',
      'ConcurrentActionLimit',
      'StepNotAllowed',
    ],
  }),
  do_node_rescue: method<{ node_id: string; rescue_password: string }, void>({
    since: '1.43',
    args: ['node_id', 'rescue_password'],
    errors: [
      'NoFreeConductorWorker',
      'NodeInMaintenance',
      'NodeLocked',
      'InstanceRescueFailure',
      'InvalidStateRequested',
      'UnsupportedDriverExtension',
    ],
  }),
  do_node_service: method<{ node_id: string; service_steps: JsonDict[]; disable_ramdisk?: boolean | null }, void>({
    since: '1.57',
    defaults: { disable_ramdisk: false },
    args: ['node_id', 'service_steps', 'disable_ramdisk'],
    errors: [
      'InvalidParameterValue',
      'InvalidStateRequested',
      'NodeInMaintenance',
      'NodeLocked',
      'NoFreeConductorWorker',
      'ConcurrentActionLimit',
      'StepNotAllowed',
    ],
  }),
  do_node_tear_down: method<{ node_id: string }, void>({
    since: '1.6',
    args: ['node_id'],
    errors: [
      'NoFreeConductorWorker',
      'NodeLocked',
      'InstanceDeployFailure',
      'InvalidStateRequested',
      'NodeProtected',
      'ConcurrentActionLimit',
    ],
  }),
  do_node_unrescue: method<{ node_id: string }, void>({
    since: '1.43',
    args: ['node_id'],
    errors: [
      'NoFreeConductorWorker',
      'NodeInMaintenance',
      'NodeLocked',
      'InstanceUnrescueFailure',
      'InvalidStateRequested',
      'UnsupportedDriverExtension',
    ],
  }),
  do_provisioning_action: method<{ node_id: string; action: string }, void>({
    since: '1.23',
    args: ['node_id', 'action'],
    errors: [
      'NoFreeConductorWorker',
      'NodeLocked',
      'InvalidParameterValue',
      'InvalidStateRequested',
      'UnsupportedDriverExtension',
      'NodeInMaintenance',
    ],
  }),
  driver_vendor_passthru: method<
    { driver_name: string; driver_method: string; http_method: string; info: JsonDict },
    VendorReply
  >({
    since: '1.20',
    args: ['driver_name', 'driver_method', 'http_method', 'info'],
    errors: [
      'NoFreeConductorWorker',
      'InvalidParameterValue',
      'UnsupportedDriverExtension',
      'DriverNotFound',
      'NoValidDefaultForInterface',
      'InterfaceNotFoundInEntrypoint',
    ],
  }),
  get_boot_device: method<{ node_id: string }, { boot_device: string | null; persistent: boolean | null }>({
    since: '1.17',
    args: ['node_id'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  get_console_information: method<{ node_id: string }, JsonDict>({
    since: '1.11',
    args: ['node_id'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'NodeConsoleNotEnabled', 'InvalidParameterValue'],
  }),
  get_driver_properties: method<{ driver_name: string }, Record<string, string>>({
    since: '1.16',
    args: ['driver_name'],
    errors: ['DriverNotFound'],
  }),
  get_driver_vendor_passthru_methods: method<{ driver_name: string }, JsonDict>({
    since: '1.21',
    args: ['driver_name'],
    errors: [
      'UnsupportedDriverExtension',
      'DriverNotFound',
      'NoValidDefaultForInterface',
      'InterfaceNotFoundInEntrypoint',
    ],
  }),
  get_indicator_state: method<{ node_id: string; component: string; indicator: string }, string>({
    since: '1.50',
    args: ['node_id', 'component', 'indicator'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  get_node_vendor_passthru_methods: method<{ node_id: string }, JsonDict>({
    since: '1.21',
    args: ['node_id'],
    errors: ['UnsupportedDriverExtension'],
  }),
  get_node_with_token: method<{ node_id: string }, Node>({
    since: '1.49',
    args: ['node_id'],
    returns: 'Node',
    errors: ['NodeLocked', 'Invalid'],
  }),
  get_raid_logical_disk_properties: method<{ driver_name: string }, Record<string, string>>({
    since: '1.30',
    args: ['driver_name'],
    errors: ['UnsupportedDriverExtension', 'NoValidDefaultForInterface', 'InterfaceNotFoundInEntrypoint'],
  }),
  get_supported_boot_devices: method<{ node_id: string }, string[]>({
    since: '1.17',
    args: ['node_id'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  get_supported_indicators: method<{ node_id: string; component?: string | null }, JsonDict>({
    since: '1.50',
    defaults: { component: null },
    args: ['node_id', 'component'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  get_virtual_media: method<{ node_id: string }, JsonDict[]>({
    since: '1.61',
    args: ['node_id'],
    errors: ['InvalidParameterValue', 'UnsupportedDriverExtension'],
  }),
  heartbeat: method<
    {
      node_id: string
      callback_url: string
      agent_version?: string
      agent_token?: string | null
      agent_verify_ca?: string | null
      agent_status?: string | null
      agent_status_message?: string | null
    },
    void
  >({
    since: '1.54',
    defaults: {
      agent_version: null,
      agent_token: null,
      agent_verify_ca: null,
      agent_status: null,
      agent_status_message: null,
    },
    args: [
      'node_id',
      'callback_url',
      'agent_version',
      'agent_token',
      'agent_verify_ca',
      'agent_status',
      'agent_status_message',
    ],
    errors: ['InvalidParameterValue', 'NoFreeConductorWorker', 'NodeLocked'],
  }),
  inject_nmi: method<{ node_id: string }, void>({
    since: '1.40',
    args: ['node_id'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  inspect_hardware: method<{ node_id: string }, void>({
    since: '1.24',
    args: ['node_id'],
    errors: [
      'NoFreeConductorWorker',
      'NodeLocked',
      'InvalidParameterValue',
      'InvalidStateRequested',
      'UnsupportedDriverExtension',
    ],
  }),
  object_action: method<{ objinst: unknown; objmethod: string; args: unknown; kwargs: JsonDict }, unknown>({
    since: '1.31',
    args: ['objinst', 'objmethod', 'args', 'kwargs'],
  }),
  object_backport_versions: method<{ objinst: unknown; object_versions: JsonDict }, unknown>({
    since: '1.31',
    args: ['objinst', 'object_versions'],
  }),
  object_class_action_versions: method<
    { objname: string; objmethod: string; object_versions: JsonDict; args: unknown; kwargs: JsonDict },
    unknown
  >({ since: '1.31', args: ['objname', 'objmethod', 'object_versions', 'args', 'kwargs'] }),
  remove_node_traits: method<{ node_id: number | string; traits: string[] | null }, void>({
    since: '1.44',
    args: ['node_id', 'traits'],
    errors: ['NodeLocked', 'NodeNotFound', 'NodeTraitNotFound'],
  }),
  set_boot_device: method<{ node_id: string; device: string; persistent?: boolean }, void>({
    since: '1.17',
    defaults: { persistent: false },
    args: ['node_id', 'device', 'persistent'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  set_console_mode: method<{ node_id: string; enabled: boolean }, void>({
    since: '1.11',
    args: ['node_id', 'enabled'],
    errors: ['NoFreeConductorWorker', 'NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  set_indicator_state: method<{ node_id: string; component: string; indicator: string; state: string }, void>({
    since: '1.50',
    args: ['node_id', 'component', 'indicator', 'state'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  set_target_raid_config: method<{ node_id: string; target_raid_config: JsonDict }, void>({
    since: '1.30',
    args: ['node_id', 'target_raid_config'],
    errors: ['NodeLocked', 'UnsupportedDriverExtension', 'InvalidParameterValue'],
  }),
  update_node: method<{ node_obj: WithChanges<Node>; reset_interfaces?: boolean | null }, Node>({
    since: '1.1',
    defaults: { reset_interfaces: false },
    args: ['node_obj', 'reset_interfaces'],
    objects: { node_obj: 'Node' },
    returns: 'Node',
    errors: ['InvalidParameterValue', 'NodeLocked', 'InvalidState', 'DriverNotFound'],
  }),
  update_port: method<{ port_obj: WithChanges<Port> }, Port>({
    since: '1.13',
    args: ['port_obj'],
    objects: { port_obj: 'Port' },
    returns: 'Port',
    errors: [
      'NodeLocked',
      'FailedToUpdateMacOnPort',
      'MACAlreadyExists',
      'InvalidState',
      'FailedToUpdateDHCPOptOnPort',
      'Conflict',
      'InvalidParameterValue',
      'NetworkError',
      'PortgroupPhysnetInconsistent',
    ],
  }),
  update_portgroup: method<{ portgroup_obj: WithChanges<Portgroup> }, Portgroup>({
    since: '1.33',
    args: ['portgroup_obj'],
    objects: { portgroup_obj: 'Portgroup' },
    returns: 'Portgroup',
    errors: [
      'NodeLocked',
      'FailedToUpdateMacOnPort',
      'PortgroupMACAlreadyExists',
      'PortgroupNotEmpty',
      'InvalidState',
      'Conflict',
      'InvalidParameterValue',
      'NetworkError',
    ],
  }),
  update_portgroup_physical_network: method<
    { portgroup: WithChanges<Portgroup>; new_physical_network: string | null },
    void
  >({
    since: '1.62',
    args: ['portgroup', 'new_physical_network'],
    objects: { portgroup: 'Portgroup' },
    errors: ['NodeLocked', 'NodeNotFound'],
  }),
  update_volume_connector: method<{ connector: WithChanges<VolumeConnector> }, VolumeConnector>({
    since: '1.35',
    args: ['connector'],
    objects: { connector: 'VolumeConnector' },
    returns: 'VolumeConnector',
    errors: [
      'InvalidParameterValue',
      'NodeLocked',
      'NodeNotFound',
      'VolumeConnectorNotFound',
      'VolumeConnectorTypeAndIdAlreadyExists',
      'InvalidStateRequested',
    ],
  }),
  update_volume_target: method<{ target: WithChanges<VolumeTarget> }, VolumeTarget>({
    since: '1.37',
    args: ['target'],
    objects: { target: 'VolumeTarget' },
    returns: 'VolumeTarget',
    errors: [
      'InvalidParameterValue',
      'NodeLocked',
      'NodeNotFound',
      'VolumeTargetNotFound',
      'VolumeTargetBootIndexAlreadyExists',
      'InvalidStateRequested',
    ],
  }),
  validate_driver_interfaces: method<{ node_id: string }, Record<string, InterfaceValidation>>({
    since: '1.5',
    args: ['node_id'],
    errors: ['NodeLocked'],
  }),
  vendor_passthru: method<{ node_id: string; driver_method: string; http_method: string; info: JsonDict }, VendorReply>(
    {
      since: '1.20',
      args: ['node_id', 'driver_method', 'http_method', 'info'],
      errors: ['NoFreeConductorWorker', 'NodeLocked', 'InvalidParameterValue', 'UnsupportedDriverExtension'],
    },
  ),
  vif_attach: method<{ node_id: string; vif_info: JsonDict }, void>({
    since: '1.38',
    args: ['node_id', 'vif_info'],
    errors: [
      'NodeLocked',
      'NetworkError',
      'VifAlreadyAttached',
      'NoFreePhysicalPorts',
      'PortgroupPhysnetInconsistent',
      'VifInvalidForAttach',
      'InvalidParameterValue',
    ],
  }),
  vif_detach: method<{ node_id: string; vif_id: string }, void>({
    since: '1.38',
    args: ['node_id', 'vif_id'],
    errors: ['NodeLocked', 'NetworkError', 'VifNotAttached', 'InvalidParameterValue'],
  }),
  vif_list: method<{ node_id: string }, JsonDict[]>({
    since: '1.38',
    args: ['node_id'],
    errors: ['NetworkError', 'InvalidParameterValue'],
  }),
})

export type ConductorClient = ClientOf<typeof conductorContract>
export type ConductorService = ServiceOf<typeof conductorContract>
