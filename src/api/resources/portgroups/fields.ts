import { field } from '../../resource.ts'
import { BodyFlag, Dict, MacAddress, nullable, Text, text, Time, Uuid } from '../../values.ts'

const both = ['create', 'update'] as const

/** What a port group shows and takes. */
export const portgroupFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  address: field(nullable(MacAddress), { on: both, list: true }),
  category: field(nullable(text({ max: 80 })), { since: 103, on: both }),
  dynamic_portgroup: field(BodyFlag, { since: 111 }),
  extra: field(nullable(Dict), { on: both }),
  internal_info: field(Dict),
  mode: field(nullable(Text), { since: 26, on: both }),
  name: field(nullable(Text), { on: both, list: true }),
  node_uuid: field(Uuid, { on: both, mandatory: true }),
  physical_network: field(nullable(text({ max: 64 })), { since: 102, on: both }),
  properties: field(nullable(Dict), { since: 26, on: both }),
  standalone_ports_supported: field(nullable(BodyFlag), { on: both }),
}
