import {
  Bool,
  Dicts,
  Int,
  nullable,
  type ObjectData,
  Text,
  Time,
  Uuid,
  versionedObject,
  withDefault,
} from './versioned-object.ts'

export const InspectionRuleObject = versionedObject(
  'InspectionRule',
  '1.1',
  {
    id: Int,
    uuid: Uuid,
    priority: withDefault(Int, 0),
    description: nullable(Text),
    sensitive: withDefault(Bool, false),
    phase: withDefault(nullable(Text), 'main'),
    scope: nullable(Text),
    actions: Dicts,
    conditions: nullable(Dicts),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type InspectionRule = ObjectData<typeof InspectionRuleObject>
