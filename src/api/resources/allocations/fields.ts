import { field } from '../../resource.ts'
import { Dict, listOf, nullable, Text, text, Time, Uuid } from '../../values.ts'
import { TraitName } from '../deploy-templates/fields.ts'

/** What an allocation, the search for a node that fits, shows and takes. */
export const allocationFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  created_at: field(Time, { list: true }),
  updated_at: field(Time, { list: true }),
  name: field(nullable(Text), { on: ['create', 'update'], list: true }),
  node_uuid: field(nullable(Uuid), { list: true }),
  state: field(Text, { list: true }),
  last_error: field(nullable(Text), { list: true }),
  resource_class: field(nullable(text({ max: 80 })), { on: ['create'], list: true }),
  traits: field(nullable(listOf(TraitName)), { on: ['create'], list: true }),
  candidate_nodes: field(nullable(listOf(Text)), { on: ['create'], list: true }),
  extra: field(nullable(Dict), { on: ['create', 'update'], list: true }),
  owner: field(nullable(Text), { since: 60, on: ['create'], list: true }),
  /** the node that already has the instance which the allocation is made for */
  node: field(nullable(Text), { on: ['create'], shown: false }),
}
