import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { InvalidParameterValue } from '../errors/base.ts'
import { InvalidUUID } from '../errors/general.ts'
import {
  DuplicateName,
  InstanceAssociated,
  NodeAlreadyExists,
  NodeLocked,
  NodeNotFound,
  NodeNotLocked,
} from '../errors/node.ts'
import { InstanceNotFound } from '../errors/agent.ts'
import { NodeObject, type Node } from '../objects/node.ts'
import { codec, encodeTime, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { withFittingError } from './fitting.ts'
import { filtered, type NodeFilters } from './node-filters.ts'
import { isUuid } from './identity.ts'
import { ledgerOf } from './lock-ledger.ts'
import { type Page, paged, sortColumn, type Start } from './paging.ts'
import { idempotent, OutcomeUnknown } from './retry.ts'
import { Expression, insertStatement, updateStatement } from './statements.ts'
import { traitsOfNodes } from './traits.ts'
import { duplicateColumns } from './violations.ts'

export type { NodeFilters } from './node-filters.ts'

/** Fields of a node that are written; `id`, `traits` and the times are not. */
export type NodeValues = Partial<Omit<Node, 'id' | 'traits' | 'created_at' | 'updated_at'>>

export const nodeCodec = codec<Node>(NodeObject, 'nodes', {
  maintenance: 0,
  console_enabled: 0,
  conductor_group: '',
  protected: 0,
  retired: 0,
  disable_power_off: 0,
  power_state: null,
  provision_state: 'enroll',
})

async function one(
  db: Db,
  column: 'id' | 'uuid' | 'name' | 'instance_uuid',
  value: number | string,
): Promise<Node | undefined> {
  const [row] = await db.query<Row>(`select * from nodes where ${column} = ?`, [value])
  return row === undefined ? undefined : await withTraitsOf(db, row)
}

async function withTraitsOf(db: Db, row: Row): Promise<Node> {
  const node = nodeCodec.decode(row)
  node.traits = (await traitsOfNodes(db, [node.id])).get(node.id) ?? []
  return node
}

/** @throws NodeNotFound */
export async function getNode(db: Db, uuidOrName: string): Promise<Node> {
  const node = await one(db, isUuid(uuidOrName) ? 'uuid' : 'name', uuidOrName)
  if (node === undefined) throw new NodeNotFound({ node: uuidOrName })
  return node
}

/** @throws NodeNotFound */
export async function getNodeById(db: Db, id: number): Promise<Node> {
  const node = await one(db, 'id', id)
  if (node === undefined) throw new NodeNotFound({ node: id })
  return node
}

/** The row as the database has it, with the names of its traits; for answers that pass JSON on as text. @throws NodeNotFound */
export async function getNodeRow(db: Db, uuidOrName: string): Promise<NodeRow> {
  const [row] = await db.query<Row>(`select * from nodes where ${isUuid(uuidOrName) ? 'uuid' : 'name'} = ?`, [
    uuidOrName,
  ])
  if (row === undefined) throw new NodeNotFound({ node: uuidOrName })
  return Object.assign(row as NodeRow, { traits: await traitNames(db, row['id'] as number) })
}

const traitNames = async (db: Db, id: number) =>
  (await db.query<{ trait: string }>('select trait from node_traits where node_id = ? order by trait', [id])).map(
    (each) => each.trait,
  )

/** @throws InvalidUUID @throws InstanceNotFound */
export async function findNodeByInstanceUuid(db: Db, instanceUuid: string): Promise<Node> {
  if (!isUuid(instanceUuid)) throw new InvalidUUID({ uuid: instanceUuid })
  const node = await one(db, 'instance_uuid', instanceUuid)
  if (node === undefined) throw new InstanceNotFound({ instance: instanceUuid })
  return node
}

/** The nodes that own a port with one of these MAC addresses, in no order; more than one means that the caller cannot tell. */
export async function findNodesByPortAddresses(db: Db, addresses: readonly string[]): Promise<Node[]> {
  if (addresses.length === 0) return []
  const marks = addresses.map(() => '?').join(', ')
  const rows = await db.query<Row>(
    `select * from nodes where id in (select node_id from ports where address in (${marks})) order by id`,
    addresses,
  )
  return await withTraits(db, rows)
}

async function withTraits(db: Db, rows: readonly Row[]): Promise<Node[]> {
  const nodes = rows.map((row) => nodeCodec.decode(row))
  const traits = await traitsOfNodes(
    db,
    nodes.map((node) => node.id),
  )
  for (const node of nodes) node.traits = traits.get(node.id) ?? []
  return nodes
}

function conflict(error: unknown, values: NodeValues, node: unknown): never {
  const columns = duplicateColumns(error)
  if (columns?.includes('name')) throw new DuplicateName({ name: values.name }, { cause: error })
  if (columns?.includes('instance_uuid'))
    throw new InstanceAssociated({ instance_uuid: values.instance_uuid, node }, { cause: error })
  if (columns !== undefined) throw new NodeAlreadyExists({ uuid: values.uuid }, { cause: error })
  throw error
}

/** @throws NodeAlreadyExists @throws DuplicateName @throws InstanceAssociated */
export async function createNode(db: Db, values: NodeValues): Promise<Node> {
  const uuid = values.uuid ?? randomUUID()
  const row = nodeCodec.forInsert(db, withFittingError({ ...values, uuid }))
  try {
    const { text, values: parameters } = insertStatement('nodes', row, returning(db))
    const [stored] = (await db.change(text, parameters)).rows
    if (stored !== undefined) return { ...nodeCodec.decode(stored), traits: [] }
  } catch (error) {
    conflict(error, { ...values, uuid }, uuid)
  }
  return await getNode(db, uuid)
}

/** SQLite tells at once what a row is after a change. */
const returning = (db: Db): string => (db.dialect === 'sqlite' ? ' returning *' : '')

/**
 * Changes the given fields only. A new provision_state also sets provision_updated_at and the times of inspection.
 * @throws NodeNotFound @throws DuplicateName @throws InstanceAssociated
 */
export async function updateNode(db: Db, id: number | string, values: NodeValues): Promise<Node> {
  if ('uuid' in values) throw new InvalidParameterValue('Cannot overwrite UUID for an existing Node.')
  const column = typeof id === 'number' ? 'id' : 'uuid'
  const row = { ...inspectionTimes(db, values), ...nodeCodec.forUpdate(db, withFittingError(values)) }
  const change = updateStatement('nodes', row, { text: `${column} = ?`, values: [id] }, returning(db))
  try {
    // who changes a node holds its lock, so the same change once more is the same
    const { found, rows } = await idempotent(() => db.change(change.text, change.values))
    if (found === 0) throw new NodeNotFound({ node: id })
    if (rows[0] !== undefined) return await withTraitsOf(db, rows[0])
  } catch (error) {
    conflict(error, values, id)
  }
  return typeof id === 'number' ? await getNodeById(db, id) : await getNode(db, id)
}

type SqlBoolean = boolean

/** MariaDB assigns from left to right: these must come before provision_state itself. */
function inspectionTimes(db: Db, { provision_state: state }: NodeValues): Row {
  if (state === undefined) return {}
  const now = encodeTime(db.now(), db.dialect)
  const times: Row = { provision_updated_at: now }
  const unless = (column: string, value: string | null) =>
    new Expression(`case when provision_state in ('inspecting', 'inspect wait') then ? else ${column} end`, [value])
  if (state === 'inspecting') return { ...times, inspection_started_at: now, inspection_finished_at: null }
  if (state === 'manageable')
    return {
      ...times,
      inspection_finished_at: unless('inspection_finished_at', now),
      inspection_started_at: unless('inspection_started_at', null),
    }
  if (state === 'inspect failed') return { ...times, inspection_started_at: unless('inspection_started_at', null) }
  return times
}

const belongings = [
  'ports',
  'portgroups',
  'node_tags',
  'node_traits',
  'volume_connectors',
  'volume_targets',
  'bios_settings',
  'allocations',
  'node_history',
  'node_inventory',
  'firmware_information',
] as const

/** Removes the node with all that belongs to it. @throws NodeNotFound */
export async function destroyNode(db: Db, idOrUuid: number | string): Promise<void> {
  await db.transaction(async (trx) => {
    const node = await trx
      .selectFrom('nodes')
      .select('id')
      .where(typeof idOrUuid === 'number' ? 'id' : 'uuid', '=', idOrUuid as never)
      .executeTakeFirst()
    if (node === undefined) throw new NodeNotFound({ node: idOrUuid })
    // an allocation of the node goes too, and must not be referred to then
    await trx.updateTable('nodes').set({ allocation_id: null }).where('id', '=', node.id).execute()
    for (const table of belongings) await trx.deleteFrom(table).where('node_id', '=', node.id).execute()
    await trx.deleteFrom('nodes').where('id', '=', node.id).execute()
  })
}

/**
 * Takes the lock: one UPDATE that finds the node unlocked.
 * @param host what `reservation` then says
 * @throws NodeLocked @throws NodeNotFound
 */
export async function reserveNode(db: Db, idOrUuidOrName: number | string, host: string): Promise<Node> {
  const column = typeof idOrUuidOrName === 'number' ? 'id' : isUuid(idOrUuidOrName) ? 'uuid' : 'name'
  const ledger = ledgerOf(db)
  let taken: boolean | undefined
  let row: Row | undefined
  try {
    const { found, rows } = await ledger.reaching(() =>
      db.change(
        `update nodes set reservation = ?, updated_at = ? where ${column} = ? and reservation is null${returning(db)}`,
        [host, encodeTime(db.now(), db.dialect), idOrUuidOrName],
      ),
    )
    taken = found > 0
    row = rows[0]
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    // a lock that was taken all the same must not stay without an owner
    await ledger.settled()
  }
  const node = row === undefined ? await one(db, column, idOrUuidOrName) : await withTraitsOf(db, row)
  if (node === undefined) throw new NodeNotFound({ node: idOrUuidOrName })
  taken ??= node.reservation === host && ledger.hold(node.id) === undefined
  if (!taken) throw new NodeLocked({ node: node.uuid, host: node.reservation ?? 'unknown' })
  ledger.took(node.id)
  return node
}

/** Gives the lock back. @throws NodeNotLocked @throws NodeLocked when another host holds it @throws NodeNotFound */
export async function releaseNode(db: Db, host: string, idOrUuid: number | string): Promise<void> {
  const column = typeof idOrUuid === 'number' ? 'id' : 'uuid'
  const find = async () => {
    const [row] = await db.query<{ id: number; uuid: string; reservation: string | null }>(
      `select id, uuid, reservation from nodes where ${column} = ?`,
      [idOrUuid],
    )
    if (row === undefined) throw new NodeNotFound({ node: idOrUuid })
    return row
  }
  const ledger = ledgerOf(db)
  const id = typeof idOrUuid === 'number' ? idOrUuid : (await find()).id
  const hold = ledger.hold(id)
  for (;;) {
    try {
      const { found } = await db.change(
        'update nodes set reservation = ?, updated_at = ? where id = ? and reservation = ?',
        [null, encodeTime(db.now(), db.dialect), id, host],
      )
      if (found > 0) break
      const row = await find()
      if (row.reservation === null) throw new NodeNotLocked({ node: row.uuid })
      throw new NodeLocked({ node: row.uuid, host: row.reservation })
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      // released after all, unless the row still says this host and no other task of ours has taken the lock since
      await ledger.settled()
      if ((await find()).reservation !== host || ledger.hold(id) !== hold) break
    }
  }
  if (ledger.hold(id) === hold) ledger.gave(id)
}

/** Sets provision_updated_at: a heartbeat shows that the wait goes on. @throws NodeNotFound */
export async function touchNodeProvisioning(db: Db, id: number | string): Promise<void> {
  const now = encodeTime(db.now(), db.dialect)
  const column = typeof id === 'number' ? 'id' : 'uuid'
  const { found } = await idempotent(() =>
    db.change(`update nodes set provision_updated_at = ?, updated_at = ? where ${column} = ?`, [now, now, id]),
  )
  if (found === 0) throw new NodeNotFound({ node: id })
}

const heldBy = (host: string) => sql<SqlBoolean>`lower(reservation) = lower(${host})`

/** Releases all locks of a host that died or starts anew. @returns the uuids of the nodes */
export async function clearReservations(db: Db, host: string): Promise<string[]> {
  return await db.transaction(async (trx) => {
    const rows = await trx.selectFrom('nodes').select('uuid').where(heldBy(host)).execute()
    if (rows.length > 0)
      await trx
        .updateTable('nodes')
        .set({ reservation: null, updated_at: encodeTime(db.now(), db.dialect) })
        .where(heldBy(host))
        .execute()
    return rows.map((row) => row.uuid ?? '')
  })
}

/** Forgets power changes that a restart of their host has cut off; before `clearReservations`. @returns the uuids of the nodes */
export async function clearTargetPowerStates(db: Db, host: string): Promise<string[]> {
  return await db.transaction(async (trx) => {
    const rows = await trx
      .selectFrom('nodes')
      .select('uuid')
      .where(heldBy(host))
      .where('target_power_state', 'is not', null)
      .execute()
    if (rows.length > 0)
      await trx
        .updateTable('nodes')
        .set({
          target_power_state: null,
          last_error: 'Pending power operation was aborted due to conductor restart',
          updated_at: encodeTime(db.now(), db.dialect),
        })
        .where(heldBy(host))
        .where('target_power_state', 'is not', null)
        .execute()
    return rows.map((row) => row.uuid ?? '')
  })
}

export interface NodeList extends Page {
  readonly filters?: NodeFilters
  /** only these fields; the others of the returned objects are null. `traits` costs a query. */
  readonly fields?: readonly (keyof Node)[] | undefined
}

/** A row of `nodes` as the database has it, and the names of the node's traits. */
export type NodeRow = Row & { readonly id: number; readonly uuid: string; traits: readonly string[] | null }

async function nodeStart(db: Db, { marker, sortKey }: Page): Promise<Start | undefined> {
  if (marker === undefined) return undefined
  const column = sortColumn('nodes', sortKey)
  const [row] = await db.query<Start>(`select id, "${column}" as value from nodes where uuid = ?`, [marker])
  if (row === undefined) throw new NodeNotFound({ node: marker })
  return row
}

async function rowsOf(db: Db, { filters = {}, fields, ...page }: NodeList): Promise<Row[]> {
  const start = await nodeStart(db, page)
  const base = db.sql.selectFrom('nodes')
  const query =
    fields === undefined
      ? base.selectAll('nodes')
      : base.select(
          [...new Set(['id', 'uuid', 'version', ...fields.filter((each) => each !== 'traits')])].map(
            (each) => `nodes.${each}` as 'nodes.id',
          ),
        )
  return await paged(filtered(query as never, filters, db), 'nodes', page, start).execute()
}

/** @throws NodeNotFound for the marker @throws InvalidParameterValue for the sort key */
export async function listNodes(db: Db, list: NodeList = {}): Promise<Node[]> {
  const rows = await rowsOf(db, list)
  if (list.fields === undefined || list.fields.includes('traits')) return await withTraits(db, rows)
  return rows.map((row) => nodeCodec.decode(row))
}

/** As `listNodes`, without reading JSON or times: for answers that pass them on as text. */
export async function listNodeRows(db: Db, list: NodeList = {}): Promise<NodeRow[]> {
  const rows = (await rowsOf(db, list)) as NodeRow[]
  if (list.fields !== undefined && !list.fields.includes('traits')) return rows
  const traits = await traitsOfNodes(
    db,
    rows.map((row) => row.id),
  )
  for (const row of rows) row.traits = (traits.get(row.id) ?? []).map((each) => each['trait'])
  return rows
}

/** How many nodes are in these states. */
export async function countNodesInProvisionState(
  db: Db,
  states: readonly string[],
  conductorGroup?: string,
): Promise<number> {
  if (states.length === 0) return 0
  const marks = states.map(() => '?').join(', ')
  const group = conductorGroup === undefined ? '' : ' and conductor_group = ?'
  const [row] = await db.query<{ n: number }>(
    `select count(id) as n from nodes where provision_state in (${marks})${group}`,
    conductorGroup === undefined ? states : [...states, conductorGroup],
  )
  return row?.n ?? 0
}

/** Uuids of the nodes with these uuids or names. @throws NodeNotFound naming those that are missing */
export async function checkNodeList(db: Db, idents: readonly string[], project?: string): Promise<Map<string, string>> {
  const wanted = new Set(idents)
  const found = new Map<string, string>()
  if (wanted.size === 0) return found
  let query = db.sql
    .selectFrom('nodes')
    .select(['uuid', 'name'])
    .where((eb) => eb.or([eb('uuid', 'in', [...wanted]), eb('name', 'in', [...wanted])]))
  if (project !== undefined) query = query.where((eb) => eb.or([eb('owner', '=', project), eb('lessee', '=', project)]))
  for (const { uuid, name } of await query.execute()) {
    if (uuid !== null && wanted.has(uuid)) found.set(uuid, uuid)
    if (uuid !== null && name !== null && wanted.has(name)) found.set(name, uuid)
  }
  const missing = [...wanted].filter((each) => !found.has(each))
  if (missing.length > 0) throw new NodeNotFound(`Nodes cannot be found: ${missing.join(', ')}.`)
  return found
}

/** Ids of the children of a node. */
export async function childNodeIds(
  db: Db,
  parentUuid: string,
  { excludeDedicatedPower = false } = {},
): Promise<number[]> {
  const rows = await db.query<{ id: number; driver_info: string | null }>(
    'select id, driver_info from nodes where parent_node = ? order by id',
    [parentUuid],
  )
  const dedicated = (text: string | null) => Boolean(JSON.parse(text ?? '{}').has_dedicated_power_supply)
  return rows.filter((row) => !excludeDedicatedPower || !dedicated(row.driver_info)).map((row) => row.id)
}

/** The shards with the number of their nodes, largest first; nodes without one count under `None`, as real Ironic tells it. */
export async function listShards(db: Db): Promise<{ name: string; count: number }[]> {
  const rows = await db.query<{ n: number; shard: string | null }>(
    'select count(id) as n, shard from nodes group by shard',
  )
  return rows.map(({ n, shard }) => ({ name: shard ?? 'None', count: n })).toSorted((a, b) => b.count - a.count)
}
