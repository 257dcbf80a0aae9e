import { listOf, nullable, type ObjectData, Text, Time, versionedObject } from './versioned-object.ts'

export const TraitObject = versionedObject(
  'Trait',
  '1.1',
  {
    node_id: Text,
    trait: Text,
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type Trait = ObjectData<typeof TraitObject>

export const TraitListObject = versionedObject(
  'TraitList',
  '1.2',
  {
    objects: listOf('Trait'),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2'] },
)
