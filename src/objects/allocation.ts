import {
  at,
  Dict,
  Int,
  nullable,
  type ObjectData,
  Text,
  Texts,
  Time,
  Uuid,
  versionedObject,
} from './versioned-object.ts'

export const AllocationObject = versionedObject(
  'Allocation',
  '1.3',
  {
    id: Int,
    uuid: nullable(Uuid),
    name: nullable(Text),
    node_id: nullable(Int),
    state: nullable(Text),
    last_error: nullable(Text),
    resource_class: nullable(Text),
    traits: nullable(Texts),
    candidate_nodes: nullable(Texts),
    extra: nullable(Dict),
    conductor_affinity: nullable(Int),
    owner: at(nullable(Text), '1.1', null),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2', '1.3'] },
)
export type Allocation = ObjectData<typeof AllocationObject>
