import { Dict, Int, nullable, type ObjectData, Time, versionedObject } from './versioned-object.ts'

export const NodeInventoryObject = versionedObject(
  'NodeInventory',
  '1.1',
  {
    id: Int,
    node_id: nullable(Int),
    inventory_data: nullable(Dict),
    plugin_data: nullable(Dict),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { accepts: ['1.0', '1.1'] },
)
export type NodeInventory = ObjectData<typeof NodeInventoryObject>
