import { randomUUID } from 'node:crypto'
import { NodeHistoryNotFound } from '../errors/node.ts'
import { NodeHistoryObject, type NodeHistory } from '../objects/node-history.ts'
import { codec, encodeTime, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { fittingText } from './fitting.ts'
import type { Page } from './paging.ts'
import { deleteRow, type Entity, getRow, listRows } from './rows.ts'
import { insertStatement } from './statements.ts'

export type NodeHistoryValues = Partial<Omit<NodeHistory, 'id' | 'uuid' | 'created_at' | 'updated_at'>>

export const nodeHistoryCodec = codec<NodeHistory>(NodeHistoryObject, 'node_history')

const history: Entity<NodeHistory> = {
  table: 'node_history',
  codec: nodeHistoryCodec,
  notFound: (entry) => new NodeHistoryNotFound({ history: entry }),
  // the uuid is ours and random
  conflict: () => new NodeHistoryNotFound('A new history entry got the uuid of an old one; try again.'),
}

/** Adds an entry. @returns its uuid */
export async function createNodeHistory(db: Db, values: NodeHistoryValues): Promise<string> {
  const uuid = randomUUID()
  const event = typeof values.event === 'string' ? { event: fittingText(values.event) } : {}
  const row = nodeHistoryCodec.forInsert(db, { ...values, ...event, uuid })
  const { text, values: parameters } = insertStatement('node_history', row)
  await db.change(text, parameters)
  return uuid
}

/** @throws NodeHistoryNotFound */
export const getNodeHistory = (db: Db, uuid: string): Promise<NodeHistory> => getRow(db, history, 'uuid', uuid)

/** @throws NodeHistoryNotFound */
export const destroyNodeHistory = (db: Db, uuid: string): Promise<void> => deleteRow(db, history, uuid)

/** The rows of a node as the database has them. */
export const listNodeHistoryRows = (db: Db, nodeId: number, page: Page = {}): Promise<Row[]> =>
  listRows(db, history, page, (query) => query.where('node_history.node_id', '=', nodeId))

/** A page of the history of a node. @throws NodeHistoryNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listNodeHistory = async (db: Db, nodeId: number, page: Page = {}): Promise<NodeHistory[]> =>
  (await listNodeHistoryRows(db, nodeId, page)).map(nodeHistoryCodec.decode)

export interface HistoryLimits {
  /** `[conductor]node_history_max_entries` */
  readonly maxEntries: number
  /** `[conductor]node_history_minimum_days`: younger entries are never removed */
  readonly minimumDays: number
}

/**
 * Ids of entries that are too many, oldest first, by node: of the nodes whose last conductor is this one.
 * Only entries older than the minimum age count, as in real Ironic.
 */
export async function historyToPurge(
  db: Db,
  conductorId: number,
  { maxEntries, minimumDays }: HistoryLimits,
): Promise<Map<number, number[]>> {
  const before =
    minimumDays > 0 ? encodeTime(new Date(db.now().getTime() - minimumDays * 86_400_000), db.dialect) : undefined
  const rows = await db.query<{ node_id: number; id: number }>(
    `select h.node_id, h.id from node_history h join nodes on nodes.id = h.node_id
     where nodes.conductor_affinity = ?${before === undefined ? '' : ' and h.created_at < ?'} order by h.created_at, h.id`,
    before === undefined ? [conductorId] : [conductorId, before],
  )
  const byNode = Map.groupBy(rows, (row) => row.node_id)
  const surplus = [...byNode].map(
    ([node, entries]) =>
      [node, entries.slice(0, Math.max(0, entries.length - maxEntries)).map((each) => each.id)] as const,
  )
  return new Map(surplus.filter(([, ids]) => ids.length > 0))
}

export async function deleteNodeHistoryByIds(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.sql.deleteFrom('node_history').where('id', 'in', ids).execute()
}
