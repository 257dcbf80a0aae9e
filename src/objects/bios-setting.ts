import {
  at,
  Bool,
  Int,
  listOf,
  nullable,
  type ObjectData,
  Text,
  Texts,
  Time,
  versionedObject,
} from './versioned-object.ts'

export const BIOSSettingObject = versionedObject(
  'BIOSSetting',
  '1.2',
  {
    node_id: Text,
    name: Text,
    value: nullable(Text),
    attribute_type: at(nullable(Text), '1.1', null, { keptInDatabase: true }),
    allowable_values: at(nullable(Texts), '1.1', null, { keptInDatabase: true }),
    lower_bound: at(nullable(Int), '1.1', null, { keptInDatabase: true }),
    max_length: at(nullable(Int), '1.1', null, { keptInDatabase: true }),
    min_length: at(nullable(Int), '1.1', null, { keptInDatabase: true }),
    read_only: at(nullable(Bool), '1.1', null, { keptInDatabase: true }),
    reset_required: at(nullable(Bool), '1.1', null, { keptInDatabase: true }),
    unique: at(nullable(Bool), '1.1', null, { keptInDatabase: true }),
    upper_bound: at(nullable(Int), '1.1', null, { keptInDatabase: true }),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2'] },
)
export type BIOSSetting = ObjectData<typeof BIOSSettingObject>

export const BIOSSettingListObject = versionedObject('BIOSSettingList', '1.1', {
  objects: listOf('BIOSSetting'),
  created_at: nullable(Time),
  updated_at: nullable(Time),
})
