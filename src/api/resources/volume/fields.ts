import { field } from '../../resource.ts'
import { Dict, nullable, Text, Time, Uuid } from '../../values.ts'
import { WholeNumber } from '../whole-number.ts'

const everywhere = ['create', 'update'] as const

/** What a volume connector, the initiator of a node, shows and takes. */
export const connectorFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  node_uuid: field(Uuid, { on: everywhere, mandatory: true, list: true }),
  type: field(Text, { on: everywhere, mandatory: true, list: true }),
  connector_id: field(Text, { on: everywhere, mandatory: true, list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  extra: field(nullable(Dict), { on: everywhere }),
}

/** What a volume target, a remote disk, shows and takes. */
export const targetFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  node_uuid: field(Uuid, { on: everywhere, mandatory: true, list: true }),
  volume_type: field(Text, { on: everywhere, mandatory: true, list: true }),
  boot_index: field(WholeNumber, { on: everywhere, mandatory: true, list: true }),
  volume_id: field(Text, { on: everywhere, mandatory: true, list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  extra: field(nullable(Dict), { on: everywhere }),
  properties: field(nullable(Dict), { on: everywhere }),
}
