import { NodeInventoryNotFound } from '../errors/node.ts'
import { NodeInventoryObject, type NodeInventory } from '../objects/node-inventory.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'

export const nodeInventoryCodec = codec<NodeInventory>(NodeInventoryObject, 'node_inventory')

/** Stores what an inspection found, in place of what was there. */
export async function storeNodeInventory(
  db: Db,
  nodeId: number,
  { inventory_data, plugin_data }: { inventory_data: JsonDict; plugin_data: JsonDict | null },
): Promise<void> {
  const row = nodeInventoryCodec.forInsert(db, { node_id: nodeId, inventory_data, plugin_data })
  await db.transaction(async (trx) => {
    await trx.deleteFrom('node_inventory').where('node_id', '=', nodeId).execute()
    await trx.insertInto('node_inventory').values(row).execute()
  })
}

/** The newest inventory of a node: databases of earlier releases may hold several. */
export async function findNodeInventory(db: Db, nodeId: number): Promise<NodeInventory | undefined> {
  const [row] = await db.query<Row>(
    'select * from node_inventory where node_id = ? order by created_at desc, id desc limit 1',
    [nodeId],
  )
  return row === undefined ? undefined : nodeInventoryCodec.decode(row)
}

/** @throws NodeInventoryNotFound */
export async function getNodeInventory(db: Db, nodeId: number): Promise<NodeInventory> {
  const found = await findNodeInventory(db, nodeId)
  if (found === undefined) throw new NodeInventoryNotFound({ node: nodeId })
  return found
}

/** @throws NodeInventoryNotFound */
export async function destroyNodeInventory(db: Db, nodeId: number): Promise<void> {
  const { numDeletedRows } = await db.sql.deleteFrom('node_inventory').where('node_id', '=', nodeId).executeTakeFirst()
  if (numDeletedRows === 0n) throw new NodeInventoryNotFound({ node: nodeId })
}
