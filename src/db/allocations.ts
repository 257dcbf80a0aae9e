import { AllocationAlreadyExists, AllocationDuplicateName, AllocationNotFound } from '../errors/allocation.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { InstanceAssociated, NodeAssociated } from '../errors/node.ts'
import { AllocationObject, type Allocation } from '../objects/allocation.ts'
import { codec, encodeTime, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { withFittingError } from './fitting.ts'
import { isUuid } from './identity.ts'
import { nodeCodec } from './nodes.ts'
import type { Page } from './paging.ts'
import {
  type Conditions,
  conflictOr,
  type Entity,
  equals,
  filtering,
  getRow,
  insertRow,
  listRows,
  nodeUuidIs,
  within,
} from './rows.ts'
import { duplicateColumns } from './violations.ts'

export type AllocationValues = Partial<Omit<Allocation, 'id' | 'created_at' | 'updated_at'>>

export const allocationCodec = codec<Allocation>(AllocationObject, 'allocations', { state: 'allocating' })

const allocations: Entity<Allocation> = {
  table: 'allocations',
  codec: allocationCodec,
  ofNode: true,
  notFound: (allocation) => new AllocationNotFound({ allocation }),
  conflict: (columns, { name, uuid }) =>
    columns.includes('name') ? new AllocationDuplicateName({ name }) : new AllocationAlreadyExists({ uuid }),
}

/** By uuid or name. @throws AllocationNotFound */
export const getAllocation = (db: Db, ident: string): Promise<Allocation> =>
  getRow(db, allocations, isUuid(ident) ? 'uuid' : 'name', ident)

/** @throws AllocationNotFound */
export const getAllocationById = (db: Db, id: number): Promise<Allocation> => getRow(db, allocations, 'id', id)

/** @throws AllocationDuplicateName @throws AllocationAlreadyExists */
export const createAllocation = (db: Db, values: AllocationValues): Promise<Allocation> =>
  insertRow(db, allocations, values.state ? values : { ...values, state: 'allocating' })

/**
 * Changes an allocation. When it gets a node, the node gets its uuid as instance_uuid and its traits, in the same transaction.
 * @param updateNode false: the node is left as it is (backfill of an instance that is there already)
 * @throws AllocationNotFound @throws AllocationDuplicateName @throws NodeAssociated @throws InstanceAssociated
 */
export async function updateAllocation(
  db: Db,
  ident: number | string,
  values: AllocationValues,
  { updateNode = true } = {},
): Promise<Allocation> {
  if ('uuid' in values) throw new InvalidParameterValue('Cannot overwrite UUID for an existing allocation.')
  const { id, uuid } = typeof ident === 'number' ? await getAllocationById(db, ident) : await getAllocation(db, ident)
  let nodeUuid: string | null = null
  try {
    await db.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('allocations')
        .set(allocationCodec.forUpdate(db, withFittingError(values)) as never)
        .where('id', '=', id)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw allocations.notFound(ident)
      if (!values.node_id || !updateNode) return
      const ref = await trx.selectFrom('allocations').select('traits').where('id', '=', id).executeTakeFirstOrThrow()
      let query = trx
        .selectFrom('nodes')
        .select(['id', 'uuid', 'instance_uuid', 'instance_info'])
        .where('id', '=', values.node_id)
      if (db.dialect === 'mysql') query = query.forUpdate()
      const node = await query.executeTakeFirstOrThrow()
      nodeUuid = node.uuid
      if (node.instance_uuid !== null && node.instance_uuid !== uuid)
        throw new NodeAssociated({ node: node.uuid, instance: node.instance_uuid })
      const instance_info = {
        ...JSON.parse(node.instance_info ?? '{}'),
        traits: JSON.parse(ref.traits ?? '[]') as string[],
      }
      await trx
        .updateTable('nodes')
        .set(nodeCodec.forUpdate(db, { allocation_id: id, instance_uuid: uuid, instance_info }) as never)
        .where('id', '=', node.id)
        .execute()
    })
  } catch (error) {
    if (duplicateColumns(error)?.includes('instance_uuid'))
      throw new InstanceAssociated({ instance_uuid: uuid, node: nodeUuid }, { cause: error })
    throw conflictOr(error, allocations, values)
  }
  return await getAllocationById(db, id)
}

/** Makes a conductor responsible, if another one has not been faster. @returns whether it is @throws AllocationNotFound */
export async function takeOverAllocation(db: Db, id: number, from: number | null, to: number): Promise<boolean> {
  const { numUpdatedRows } = await db.sql
    .updateTable('allocations')
    .set({ conductor_affinity: to, updated_at: encodeTime(db.now(), db.dialect) })
    .where('id', '=', id)
    .where('conductor_affinity', from === null ? 'is' : '=', from)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  await getAllocationById(db, id)
  return false
}

/** Removes an allocation and frees its node. @throws AllocationNotFound */
export async function destroyAllocation(db: Db, ident: number | string): Promise<void> {
  const { id } = typeof ident === 'number' ? { id: ident } : await getAllocation(db, ident)
  await db.transaction(async (trx) => {
    await trx
      .updateTable('nodes')
      .set({ allocation_id: null, instance_uuid: null, updated_at: encodeTime(db.now(), db.dialect) })
      .where('allocation_id', '=', id)
      .execute()
    const { numDeletedRows } = await trx.deleteFrom('allocations').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw allocations.notFound(ident)
  })
}

export interface AllocationFilters {
  readonly state?: string
  readonly resource_class?: string
  readonly node_id?: number
  readonly node_uuid?: string
  readonly owner?: string
  /** id of the conductor that handles it */
  readonly conductor_affinity?: number
  readonly conductor_affinity_in?: readonly number[]
}

const conditions: Conditions<AllocationFilters> = {
  state: equals('allocations.state'),
  resource_class: equals('allocations.resource_class'),
  node_id: equals('allocations.node_id'),
  node_uuid: nodeUuidIs,
  owner: equals('allocations.owner'),
  conductor_affinity: equals('allocations.conductor_affinity'),
  conductor_affinity_in: within('allocations.conductor_affinity'),
}

export interface AllocationList extends Page {
  readonly filters?: AllocationFilters
}

/** As `listAllocations`, the rows as the database has them, with `node_uuid`. */
export const listAllocationRows = (db: Db, { filters = {}, ...page }: AllocationList = {}): Promise<Row[]> =>
  listRows(db, allocations, page, filtering(conditions, filters))

/** @throws AllocationNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listAllocations = async (db: Db, list: AllocationList = {}): Promise<Allocation[]> =>
  (await listAllocationRows(db, list)).map(allocationCodec.decode)

/** Uuids of allocations by id, in one query. */
export async function allocationUuids(db: Db, ids: Iterable<number | null>): Promise<Map<number, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await db.sql.selectFrom('allocations').select(['id', 'uuid']).where('id', 'in', wanted).execute()
  return new Map(rows.map((row) => [row.id, row.uuid]))
}
