import { NodeNotFound, NodeTagNotFound } from '../errors/node.ts'
import { encodeTime } from './codec.ts'
import type { Db } from './database.ts'
import { duplicateColumns } from './violations.ts'

async function mustExist(db: Db, nodeId: number): Promise<void> {
  const rows = await db.query('select id from nodes where id = ?', [nodeId])
  if (rows.length === 0) throw new NodeNotFound({ node: nodeId })
}

/** The tags of a node by name. @throws NodeNotFound */
export async function listNodeTags(db: Db, nodeId: number): Promise<string[]> {
  await mustExist(db, nodeId)
  const rows = await db.query<{ tag: string }>('select tag from node_tags where node_id = ? order by tag', [nodeId])
  return rows.map((row) => row.tag)
}

/** Replaces all tags. @throws NodeNotFound */
export async function setNodeTags(db: Db, nodeId: number, tags: readonly string[]): Promise<void> {
  await mustExist(db, nodeId)
  const created_at = encodeTime(db.now(), db.dialect)
  const rows = [...new Set(tags)].map((tag) => ({ node_id: nodeId, tag, created_at, updated_at: null, version: null }))
  await db.transaction(async (trx) => {
    await trx.deleteFrom('node_tags').where('node_id', '=', nodeId).execute()
    if (rows.length > 0) await trx.insertInto('node_tags').values(rows).execute()
  })
}

/** Adds a tag; one that is there already is fine. @throws NodeNotFound */
export async function addNodeTag(db: Db, nodeId: number, tag: string): Promise<void> {
  await mustExist(db, nodeId)
  try {
    await db.sql
      .insertInto('node_tags')
      .values({ node_id: nodeId, tag, created_at: encodeTime(db.now(), db.dialect), updated_at: null, version: null })
      .execute()
  } catch (error) {
    if (duplicateColumns(error) === undefined) throw error
  }
}

/** @throws NodeNotFound @throws NodeTagNotFound */
export async function removeNodeTag(db: Db, nodeId: number, tag: string): Promise<void> {
  await mustExist(db, nodeId)
  const { numDeletedRows } = await db.sql
    .deleteFrom('node_tags')
    .where('node_id', '=', nodeId)
    .where('tag', '=', tag)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new NodeTagNotFound({ node_id: nodeId, tag })
}
