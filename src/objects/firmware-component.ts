import { Int, listOf, nullable, type ObjectData, Text, Time, versionedObject } from './versioned-object.ts'

export const FirmwareComponentObject = versionedObject(
  'FirmwareComponent',
  '1.2',
  {
    id: Int,
    node_id: Int,
    component: Text,
    initial_version: Text,
    current_version: nullable(Text),
    last_version_flashed: nullable(Text),
    vendor: nullable(Text),
    model: nullable(Text),
    serial_number: nullable(Text),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1', '1.2'] },
)
export type FirmwareComponent = ObjectData<typeof FirmwareComponentObject>

export const FirmwareComponentListObject = versionedObject('FirmwareComponentList', '1.1', {
  objects: listOf('FirmwareComponent'),
  created_at: nullable(Time),
  updated_at: nullable(Time),
})
