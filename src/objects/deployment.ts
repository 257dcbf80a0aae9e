import { Dict, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const DeploymentObject = versionedObject(
  'Deployment',
  '1.1',
  {
    uuid: nullable(Uuid),
    node_uuid: nullable(Uuid),
    image_checksum: nullable(Text),
    image_ref: nullable(Text),
    kernel_ref: nullable(Text),
    ramdisk_ref: nullable(Text),
    root_device: nullable(Dict),
    root_gib: nullable(Int),
    state: nullable(Text),
    swap_mib: nullable(Int),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type Deployment = ObjectData<typeof DeploymentObject>
