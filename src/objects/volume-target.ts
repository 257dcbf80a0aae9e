import { Dict, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const VolumeTargetObject = versionedObject(
  'VolumeTarget',
  '1.1',
  {
    id: Int,
    uuid: nullable(Uuid),
    node_id: nullable(Int),
    volume_type: nullable(Text),
    properties: nullable(Dict),
    boot_index: nullable(Int),
    volume_id: nullable(Text),
    extra: nullable(Dict),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type VolumeTarget = ObjectData<typeof VolumeTargetObject>
