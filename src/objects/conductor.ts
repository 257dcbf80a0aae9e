import { Bool, Int, nullable, type ObjectData, Text, Texts, Time, versionedObject } from './versioned-object.ts'

export const ConductorObject = versionedObject(
  'Conductor',
  '1.6',
  {
    id: Int,
    drivers: nullable(Texts),
    hostname: Text,
    conductor_group: Text,
    online: Bool,
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.2', '1.3', '1.4', '1.5', '1.6'] },
)
export type Conductor = ObjectData<typeof ConductorObject>
