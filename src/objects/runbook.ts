import {
  Bool,
  Dict,
  Dicts,
  Int,
  nullable,
  type ObjectData,
  Text,
  Texts,
  Time,
  Uuid,
  versionedObject,
  withDefault,
} from './versioned-object.ts'

export const RunbookObject = versionedObject(
  'Runbook',
  '1.2',
  {
    id: Int,
    uuid: Uuid,
    name: Text,
    description: nullable(Text),
    steps: Dicts,
    disable_ramdisk: withDefault(Bool, false),
    extra: nullable(Dict),
    public: withDefault(Bool, false),
    owner: nullable(Text),
    traits: withDefault(Texts, []),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2'] },
)
export type Runbook = ObjectData<typeof RunbookObject>
