import { field, neverUnset } from '../../resource.ts'
import { BodyFlag, Dict, MacAddress, nullable, StrictFlag, Text, text, Time, Uuid } from '../../values.ts'
import { LocalLink } from './link.ts'

const both = ['create', 'update'] as const

/** What a port shows and takes. */
export const portFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  address: field(MacAddress, { on: both, mandatory: true, list: true }),
  extra: field(nullable(Dict), { on: both }),
  internal_info: field(Dict, { since: 18 }),
  is_smartnic: field(nullable(BodyFlag), { since: 53, on: both, unset: neverUnset }),
  local_link_connection: field(nullable(LocalLink), { since: 19, on: both, unset: neverUnset }),
  node_uuid: field(Uuid, { on: both }),
  /** only in bodies: a node by name or UUID */
  node_ident: field(Text, { since: 94, on: both, shown: false }),
  physical_network: field(nullable(text({ max: 64 })), { since: 34, on: both, unset: neverUnset }),
  portgroup_uuid: field(nullable(Uuid), { since: 24, on: both, column: null, unset: neverUnset }),
  pxe_enabled: field(nullable(BodyFlag), { since: 19, on: both, unset: neverUnset }),
  name: field(nullable(Text), { since: 88, on: both, unset: neverUnset }),
  description: field(nullable(text({ max: 255 })), { since: 97, on: both, unset: neverUnset }),
  vendor: field(nullable(text({ max: 32 })), { since: 100, on: both, unset: neverUnset }),
  category: field(nullable(text({ max: 80 })), { since: 101, on: both, unset: neverUnset }),
  available_for_dynamic_portgroup: field(StrictFlag, { since: 111, on: both, unset: neverUnset }),
}
