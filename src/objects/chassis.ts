import { Dict, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const ChassisObject = versionedObject(
  'Chassis',
  '1.4',
  {
    id: Int,
    uuid: nullable(Uuid),
    extra: nullable(Dict),
    description: nullable(Text),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.3', '1.4'] },
)
export type Chassis = ObjectData<typeof ChassisObject>
