import { Int, listOf, nullable, type ObjectData, Text, Time, versionedObject } from './versioned-object.ts'

export const RunbookTraitObject = versionedObject(
  'RunbookTrait',
  '1.0',
  {
    runbook_id: Int,
    trait: Text,
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0'] },
)
export type RunbookTrait = ObjectData<typeof RunbookTraitObject>

export const RunbookTraitListObject = versionedObject(
  'RunbookTraitList',
  '1.0',
  {
    objects: listOf('RunbookTrait'),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0'] },
)
