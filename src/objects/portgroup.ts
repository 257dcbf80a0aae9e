import {
  at,
  Bool,
  Dict,
  Int,
  Mac,
  nullable,
  type ObjectData,
  Text,
  Time,
  Uuid,
  versionedObject,
  withDefault,
} from './versioned-object.ts'

export const PortgroupObject = versionedObject(
  'Portgroup',
  '1.9',
  {
    id: Int,
    uuid: nullable(Uuid),
    name: nullable(Text),
    node_id: nullable(Int),
    node_uuid: at(nullable(Uuid), '1.5', null),
    address: nullable(Mac),
    extra: nullable(Dict),
    internal_info: nullable(Dict),
    standalone_ports_supported: Bool,
    mode: nullable(Text),
    properties: nullable(Dict),
    physical_network: at(nullable(Text), '1.7', null),
    category: at(nullable(Text), '1.8', null),
    dynamic_portgroup: withDefault(at(nullable(Bool), '1.9', false), false),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.3', '1.4', '1.5', '1.6', '1.7', '1.8', '1.9'] },
)
export type Portgroup = ObjectData<typeof PortgroupObject>
