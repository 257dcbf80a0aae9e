import { InvalidParameterValue } from '../errors/base.ts'
import { NodeNotFound, NodeTraitNotFound } from '../errors/node.ts'
import { TraitObject, type Trait } from '../objects/trait.ts'
import { decodeTime, encodeTime, rowVersion } from './codec.ts'
import type { Db } from './database.ts'
import { duplicateColumns } from './violations.ts'

/** What placement takes per resource provider. */
export const maxTraitsPerNode = 50

interface TraitRow {
  readonly node_id: number
  readonly trait: string
  readonly created_at: string | null
  readonly updated_at: string | null
}

const decode = (row: TraitRow): Trait => ({
  // a text on the wire, whatever the column says
  node_id: String(row.node_id),
  trait: row.trait,
  created_at: row.created_at === null ? null : decodeTime(row.created_at),
  updated_at: row.updated_at === null ? null : decodeTime(row.updated_at),
})

const chunk = 500

/** The traits of many nodes in one query per 500 nodes, by node id and then by name. */
export async function traitsOfNodes(db: Db, ids: readonly number[]): Promise<Map<number, Trait[]>> {
  const found = new Map<number, Trait[]>()
  for (let from = 0; from < ids.length; from += chunk) {
    const some = ids.slice(from, from + chunk)
    const marks = some.length === 1 ? '?' : some.map(() => '?').join(',')
    const rows = await db.query<TraitRow>(
      `select node_id, trait, created_at, updated_at from node_traits where node_id in (${marks}) order by node_id, trait`,
      some,
    )
    for (const row of rows) {
      const known = found.get(row.node_id)
      if (known === undefined) found.set(row.node_id, [decode(row)])
      else known.push(decode(row))
    }
  }
  return found
}

async function mustExist(db: Db, nodeId: number): Promise<void> {
  const rows = await db.query('select id from nodes where id = ?', [nodeId])
  if (rows.length === 0) throw new NodeNotFound({ node: nodeId })
}

const tooMany = (nodeId: number, count: number) =>
  new InvalidParameterValue(
    `Could not modify traits for node ${nodeId} as it would exceed the maximum number of traits per node (${count} vs. ${maxTraitsPerNode})`,
  )

/** @throws NodeNotFound */
export async function listTraits(db: Db, nodeId: number): Promise<Trait[]> {
  await mustExist(db, nodeId)
  return (await traitsOfNodes(db, [nodeId])).get(nodeId) ?? []
}

/** Replaces all traits. @throws NodeNotFound @throws InvalidParameterValue when there are too many */
export async function setTraits(db: Db, nodeId: number, traits: readonly string[]): Promise<Trait[]> {
  const names = [...new Set(traits)]
  if (names.length > maxTraitsPerNode) throw tooMany(nodeId, names.length)
  await mustExist(db, nodeId)
  const created_at = encodeTime(db.now(), db.dialect)
  const version = rowVersion(TraitObject, db)
  await db.transaction(async (trx) => {
    await trx.deleteFrom('node_traits').where('node_id', '=', nodeId).execute()
    if (names.length > 0)
      await trx
        .insertInto('node_traits')
        .values(names.map((trait) => ({ node_id: nodeId, trait, version, created_at, updated_at: null })))
        .execute()
  })
  return await listTraits(db, nodeId)
}

/** Adds a trait; one that is there already is fine. @throws NodeNotFound @throws InvalidParameterValue when there are too many */
export async function addTrait(db: Db, nodeId: number, trait: string): Promise<void> {
  await mustExist(db, nodeId)
  const row = {
    node_id: nodeId,
    trait,
    version: rowVersion(TraitObject, db),
    created_at: encodeTime(db.now(), db.dialect),
    updated_at: null,
  }
  try {
    await db.transaction(async (trx) => {
      await trx.insertInto('node_traits').values(row).execute()
      const { n } = await trx
        .selectFrom('node_traits')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('node_id', '=', nodeId)
        .executeTakeFirstOrThrow()
      if (Number(n) > maxTraitsPerNode) throw tooMany(nodeId, Number(n))
    })
  } catch (error) {
    if (duplicateColumns(error) === undefined) throw error
  }
}

/** @throws NodeNotFound @throws NodeTraitNotFound */
export async function removeTrait(db: Db, nodeId: number, trait: string): Promise<void> {
  await mustExist(db, nodeId)
  const { numDeletedRows } = await db.sql
    .deleteFrom('node_traits')
    .where('node_id', '=', nodeId)
    .where('trait', '=', trait)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new NodeTraitNotFound({ node_id: nodeId, trait })
}

/** @throws NodeNotFound */
export async function removeAllTraits(db: Db, nodeId: number): Promise<void> {
  await mustExist(db, nodeId)
  await db.sql.deleteFrom('node_traits').where('node_id', '=', nodeId).execute()
}
