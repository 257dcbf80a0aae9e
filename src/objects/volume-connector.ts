import { Dict, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const VolumeConnectorObject = versionedObject(
  'VolumeConnector',
  '1.1',
  {
    id: Int,
    uuid: nullable(Uuid),
    node_id: nullable(Int),
    type: nullable(Text),
    connector_id: nullable(Text),
    extra: nullable(Dict),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type VolumeConnector = ObjectData<typeof VolumeConnectorObject>
