import { at, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const NodeHistoryObject = versionedObject(
  'NodeHistory',
  '1.3',
  {
    id: Int,
    uuid: nullable(Uuid),
    conductor: nullable(Text),
    event: nullable(Text),
    user: nullable(Text),
    project: at(nullable(Text), '1.2', undefined),
    node_id: nullable(Int),
    event_type: nullable(Text),
    severity: nullable(Text),
    state: at(nullable(Text), '1.3', undefined),
    target_provision_state: at(nullable(Text), '1.3', undefined),
    duration_seconds: at(nullable(Int), '1.3', undefined),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2', '1.3'] },
)
export type NodeHistory = ObjectData<typeof NodeHistoryObject>
