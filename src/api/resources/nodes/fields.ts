import { networkDataProblem } from '../../../domain/network-data.ts'
import { InvalidParameterValue } from '../../../errors/base.ts'
import { field } from '../../resource.ts'
import { BodyFlag, checked, Dict, nullable, Text, text, TextList, Time, Uuid, type Members } from '../../values.ts'

const both = ['create', 'update'] as const
const text0 = nullable(Text)
const flag = nullable(BodyFlag)
const dict = nullable(Dict)

/** `available` had no name below 1.2, waiting for an inspection none below 1.39. */
export const stateShownAs = (state: unknown, minor: number): unknown => {
  if (state === 'available' && minor < 2) return null
  return state === 'inspect wait' && minor < 39 ? 'inspecting' : state
}

/** Nova's network data, or an empty object. */
const NetworkData = nullable(
  checked(Dict, (value: Members) => {
    const problem = Object.keys(value).length === 0 ? null : networkDataProblem(value)
    if (problem !== null) throw new InvalidParameterValue(`The network data is not usable: ${problem}`)
    return value
  }),
)

const hardwareInterface = (since: number) => field(text0, { since, on: both })

/** What a node shows and takes. */
export const nodeFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  created_at: field(Time, { named: false }),
  updated_at: field(Time, { named: false }),
  allocation_uuid: field(text0, { since: 52, column: 'allocation_id' }),
  automated_clean: field(flag, { since: 47, on: both }),
  bios_interface: hardwareInterface(40),
  boot_interface: hardwareInterface(31),
  boot_mode: field(text0, { since: 75, on: ['create'] }),
  chassis_uuid: field(nullable(Uuid), { on: both, column: 'chassis_id' }),
  clean_step: field(Dict, { since: 7 }),
  conductor: field(text0, { since: 49, column: null }),
  conductor_group: field(text0, { since: 46, on: both, unset: '' }),
  console_enabled: field(flag, { on: ['create'] }),
  console_interface: hardwareInterface(31),
  deploy_interface: hardwareInterface(31),
  deploy_step: field(Dict, { since: 44 }),
  description: field(nullable(text({ max: 4096 })), { since: 51, on: both }),
  disable_power_off: field(flag, { since: 95, on: both }),
  driver: field(Text, { on: both, mandatory: true }),
  driver_info: field(dict, { on: both }),
  driver_internal_info: field(Dict, { since: 3 }),
  extra: field(dict, { on: both }),
  fault: field(text0, { since: 42 }),
  firmware_interface: hardwareInterface(86),
  health: field(text0, { since: 109 }),
  inspect_interface: hardwareInterface(31),
  inspection_finished_at: field(Time, { since: 6 }),
  inspection_started_at: field(Time, { since: 6 }),
  instance_info: field(dict, { on: both }),
  instance_name: field(nullable(text({ min: 1, max: 255 })), { since: 104, on: both }),
  instance_uuid: field(nullable(Uuid), { on: both, list: true }),
  last_error: field(text0),
  lessee: field(text0, { since: 65, on: both }),
  maintenance: field(flag, { on: both, list: true }),
  maintenance_reason: field(text0),
  management_interface: hardwareInterface(31),
  name: field(text0, { since: 5, on: both, list: true }),
  network_data: field(NetworkData, { since: 66, on: both }),
  network_interface: hardwareInterface(20),
  owner: field(text0, { since: 50, on: both }),
  parent_node: field(nullable(text({ max: 36 })), { since: 83, on: both }),
  power_interface: hardwareInterface(31),
  power_state: field(text0, { list: true }),
  properties: field(dict, { on: both }),
  protected: field(flag, { since: 48, on: ['update'] }),
  protected_reason: field(text0, { since: 48, on: ['update'] }),
  provision_state: field(text0, { list: true, shownAs: stateShownAs }),
  provision_updated_at: field(Time),
  raid_config: field(Dict, { since: 12 }),
  raid_interface: hardwareInterface(31),
  rescue_interface: hardwareInterface(38),
  reservation: field(text0),
  resource_class: field(nullable(text({ max: 80 })), { since: 21, on: both }),
  retired: field(flag, { since: 61, on: both }),
  retired_reason: field(text0, { since: 61, on: both }),
  secure_boot: field(flag, { since: 75, on: ['create'] }),
  service_step: field(Dict, { since: 87 }),
  shard: field(text0, { since: 82, on: both }),
  storage_interface: hardwareInterface(33),
  target_power_state: field(text0),
  target_provision_state: field(text0),
  target_raid_config: field(Dict, { since: 12 }),
  traits: field(TextList, { since: 37 }),
  vendor_interface: hardwareInterface(31),
}

/** Fields that are made from other rows: a list cannot be asked for them one by one. */
export const linkedFields: readonly string[] = ['conductor', 'allocation_uuid', 'chassis_uuid']

/** Fields whose values have no order. */
export const unsortableFields: readonly string[] = [
  'properties',
  'driver_info',
  'extra',
  'instance_info',
  'driver_internal_info',
  'clean_step',
  'deploy_step',
  'raid_config',
  'target_raid_config',
  'traits',
  'network_data',
  'service_step',
]
