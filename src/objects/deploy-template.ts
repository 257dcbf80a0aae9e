import { Dict, Dicts, Int, nullable, type ObjectData, Text, Time, Uuid, versionedObject } from './versioned-object.ts'

export const DeployTemplateObject = versionedObject(
  'DeployTemplate',
  '1.2',
  {
    id: Int,
    uuid: Uuid,
    name: Text,
    steps: Dicts,
    extra: nullable(Dict),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2'] },
)
export type DeployTemplate = ObjectData<typeof DeployTemplateObject>
