import type { Generated } from 'kysely'

/**
 * Rows as the database gives them: JSON columns as text, booleans as 0 and 1, times as text (UTC). `codec.ts` turns them into objects.
 */
export interface AlembicVersionTable {
  version_num: string
}

export interface AllocationsTable {
  created_at: string | null
  updated_at: string | null
  version: string | null
  id: Generated<number>
  uuid: string
  name: string | null
  node_id: number | null
  state: string
  last_error: string | null
  resource_class: string | null
  traits: string | null
  candidate_nodes: string | null
  extra: string | null
  conductor_affinity: number | null
  owner: string | null
}

export interface BiosSettingsTable {
  node_id: number
  created_at: string | null
  updated_at: string | null
  name: string
  value: string | null
  version: string | null
  attribute_type: string | null
  allowable_values: string | null
  lower_bound: number | null
  max_length: number | null
  min_length: number | null
  read_only: number | null
  reset_required: number | null
  unique: number | null
  upper_bound: number | null
}

export interface ChassisTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  extra: string | null
  description: string | null
  version: string | null
}

export interface ConductorsTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  hostname: string
  drivers: string | null
  online: number | null
  version: string | null
  conductor_group: Generated<string>
}

export interface ConductorHardwareInterfacesTable {
  id: Generated<number>
  created_at: string | null
  updated_at: string | null
  conductor_id: number
  hardware_type: string
  interface_type: string
  interface_name: string
  default: number
  version: string | null
}

export interface DeployTemplatesTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  name: string
  extra: string | null
}

export interface DeployTemplateStepsTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  deploy_template_id: number
  interface: string
  step: string
  args: string
  priority: number
}

export interface FirmwareInformationTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  node_id: number
  component: string
  initial_version: string
  current_version: string | null
  last_version_flashed: string | null
  version: string | null
  vendor: string | null
  model: string | null
  serial_number: string | null
}

export interface InspectionRulesTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string
  priority: number
  description: string | null
  scope: string | null
  sensitive: number | null
  phase: string | null
  conditions: string | null
  actions: string
}

export interface NodesTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  instance_uuid: string | null
  chassis_id: number | null
  power_state: string | null
  target_power_state: string | null
  provision_state: string | null
  target_provision_state: string | null
  last_error: string | null
  properties: string | null
  driver: string | null
  driver_info: string | null
  reservation: string | null
  maintenance: number | null
  extra: string | null
  provision_updated_at: string | null
  console_enabled: number | null
  instance_info: string | null
  conductor_affinity: number | null
  maintenance_reason: string | null
  driver_internal_info: string | null
  name: string | null
  inspection_started_at: string | null
  inspection_finished_at: string | null
  clean_step: string | null
  raid_config: string | null
  target_raid_config: string | null
  network_interface: string | null
  resource_class: string | null
  boot_interface: string | null
  console_interface: string | null
  deploy_interface: string | null
  inspect_interface: string | null
  management_interface: string | null
  power_interface: string | null
  raid_interface: string | null
  vendor_interface: string | null
  storage_interface: string | null
  version: string | null
  rescue_interface: string | null
  bios_interface: string | null
  fault: string | null
  deploy_step: string | null
  conductor_group: Generated<string>
  automated_clean: number | null
  protected: Generated<number>
  protected_reason: string | null
  owner: string | null
  allocation_id: number | null
  description: string | null
  retired: Generated<number | null>
  retired_reason: string | null
  lessee: string | null
  network_data: string | null
  boot_mode: string | null
  secure_boot: number | null
  shard: string | null
  parent_node: string | null
  firmware_interface: string | null
  service_step: string | null
  disable_power_off: Generated<number | null>
  instance_name: string | null
  health: string | null
}

export interface NodeHistoryTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string
  conductor: string | null
  event_type: string | null
  severity: string | null
  event: string | null
  user: string | null
  node_id: number | null
  project: string | null
  state: string | null
  target_provision_state: string | null
  duration_seconds: number | null
}

export interface NodeInventoryTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  inventory_data: string | null
  plugin_data: string | null
  node_id: number | null
}

export interface NodeTagsTable {
  created_at: string | null
  updated_at: string | null
  node_id: number
  tag: string
  version: string | null
}

export interface NodeTraitsTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  node_id: number
  trait: string
}

export interface PortgroupsTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  name: string | null
  node_id: number | null
  address: string | null
  extra: string | null
  internal_info: string | null
  standalone_ports_supported: number | null
  properties: string | null
  mode: string | null
  version: string | null
  physical_network: string | null
  category: string | null
  dynamic_portgroup: number | null
}

export interface PortsTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  address: string | null
  node_id: number | null
  extra: string | null
  local_link_connection: string | null
  portgroup_id: number | null
  pxe_enabled: number | null
  internal_info: string | null
  physical_network: string | null
  version: string | null
  is_smartnic: number | null
  name: string | null
  description: string | null
  vendor: string | null
  category: string | null
  available_for_dynamic_portgroup: Generated<number>
}

export interface RunbooksTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  name: string
  disable_ramdisk: number | null
  public: number | null
  owner: string | null
  extra: string | null
  description: string | null
}

export interface RunbookStepsTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  runbook_id: number
  interface: string
  step: string
  args: string
  order: number
}

export interface RunbookTraitsTable {
  version: string | null
  created_at: string | null
  updated_at: string | null
  runbook_id: number
  trait: string
}

export interface VolumeConnectorsTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  node_id: number | null
  type: string | null
  connector_id: string | null
  extra: string | null
  version: string | null
}

export interface VolumeTargetsTable {
  created_at: string | null
  updated_at: string | null
  id: Generated<number>
  uuid: string | null
  node_id: number | null
  volume_type: string | null
  properties: string | null
  boot_index: number | null
  volume_id: string | null
  extra: string | null
  version: string | null
}

export interface Tables {
  alembic_version: AlembicVersionTable
  allocations: AllocationsTable
  bios_settings: BiosSettingsTable
  chassis: ChassisTable
  conductors: ConductorsTable
  conductor_hardware_interfaces: ConductorHardwareInterfacesTable
  deploy_templates: DeployTemplatesTable
  deploy_template_steps: DeployTemplateStepsTable
  firmware_information: FirmwareInformationTable
  inspection_rules: InspectionRulesTable
  nodes: NodesTable
  node_history: NodeHistoryTable
  node_inventory: NodeInventoryTable
  node_tags: NodeTagsTable
  node_traits: NodeTraitsTable
  portgroups: PortgroupsTable
  ports: PortsTable
  runbooks: RunbooksTable
  runbook_steps: RunbookStepsTable
  runbook_traits: RunbookTraitsTable
  volume_connectors: VolumeConnectorsTable
  volume_targets: VolumeTargetsTable
}
