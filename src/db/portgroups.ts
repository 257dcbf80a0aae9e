import {
  PortgroupAlreadyExists,
  PortgroupDuplicateName,
  PortgroupMACAlreadyExists,
  PortgroupNotEmpty,
  PortgroupNotFound,
} from '../errors/port.ts'
import { PortgroupObject, type Portgroup } from '../objects/portgroup.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { isUuid } from './identity.ts'
import type { Page } from './paging.ts'
import {
  type Conditions,
  type Entity,
  equals,
  filtering,
  getRow,
  insertRow,
  listRows,
  nodeUuidIs,
  ofProject,
  updateRow,
  within,
} from './rows.ts'

export type PortgroupValues = Partial<Omit<Portgroup, 'id' | 'node_uuid' | 'created_at' | 'updated_at'>>

export const portgroupCodec = codec<Portgroup>(
  PortgroupObject,
  'portgroups',
  { standalone_ports_supported: 1, dynamic_portgroup: 0 },
  ['node_uuid'],
)

const portgroups: Entity<Portgroup> = {
  table: 'portgroups',
  codec: portgroupCodec,
  ofNode: true,
  notFound: (portgroup) => new PortgroupNotFound({ portgroup }),
  conflict: (columns, values) => {
    if (columns.includes('name')) return new PortgroupDuplicateName({ name: values.name })
    if (columns.includes('address')) return new PortgroupMACAlreadyExists({ mac: values.address })
    return new PortgroupAlreadyExists({ uuid: values.uuid })
  },
}

/** By uuid or name. @throws PortgroupNotFound */
export const getPortgroup = (db: Db, ident: string): Promise<Portgroup> =>
  getRow(db, portgroups, isUuid(ident) ? 'uuid' : 'name', ident)

/** @throws PortgroupNotFound */
export const getPortgroupById = (db: Db, id: number): Promise<Portgroup> => getRow(db, portgroups, 'id', id)

/**
 * The caller gives `mode` (`[DEFAULT]default_portgroup_mode` when the request has none).
 * @throws PortgroupDuplicateName @throws PortgroupMACAlreadyExists @throws PortgroupAlreadyExists
 */
export const createPortgroup = (db: Db, values: PortgroupValues): Promise<Portgroup> =>
  insertRow(db, portgroups, values)

/** @throws PortgroupNotFound @throws PortgroupDuplicateName @throws PortgroupMACAlreadyExists */
export const updatePortgroup = (db: Db, ident: number | string, values: PortgroupValues): Promise<Portgroup> =>
  updateRow(db, portgroups, ident, values)

/** @throws PortgroupNotEmpty while ports belong to it @throws PortgroupNotFound */
export async function destroyPortgroup(db: Db, ident: number | string): Promise<void> {
  const { id } = typeof ident === 'number' ? { id: ident } : await getPortgroup(db, ident)
  await db.transaction(async (trx) => {
    const port = await trx.selectFrom('ports').select('id').where('portgroup_id', '=', id).limit(1).executeTakeFirst()
    if (port !== undefined) throw new PortgroupNotEmpty({ portgroup: ident })
    const { numDeletedRows } = await trx.deleteFrom('portgroups').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw new PortgroupNotFound({ portgroup: ident })
  })
}

export interface PortgroupFilters {
  readonly node_id?: number
  readonly node_uuid?: string
  readonly address?: string
  readonly name?: string
  readonly shards?: readonly string[]
  /** owner or lessee of the node */
  readonly project?: string
  readonly conductor_groups?: readonly string[]
  readonly id_in?: readonly number[]
}

const conditions: Conditions<PortgroupFilters> = {
  node_id: equals('portgroups.node_id'),
  node_uuid: nodeUuidIs,
  address: (query, address) => query.where('portgroups.address', '=', address.toLowerCase()),
  name: equals('portgroups.name'),
  shards: within('nodes.shard'),
  project: ofProject,
  conductor_groups: (query, groups) => (groups.length === 0 ? query : within('nodes.conductor_group')(query, groups)),
  id_in: within('portgroups.id'),
}

export interface PortgroupList extends Page {
  readonly filters?: PortgroupFilters
}

/** As `listPortgroups`, the rows as the database has them, with `node_uuid`. */
export const listPortgroupRows = (db: Db, { filters = {}, ...page }: PortgroupList = {}): Promise<Row[]> =>
  listRows(db, portgroups, page, filtering(conditions, filters))

/** @throws PortgroupNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listPortgroups = async (db: Db, list: PortgroupList = {}): Promise<Portgroup[]> =>
  (await listPortgroupRows(db, list)).map(portgroupCodec.decode)

/** Uuids of portgroups by id, in one query. */
export async function portgroupUuids(db: Db, ids: Iterable<number | null>): Promise<Map<number, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await db.sql.selectFrom('portgroups').select(['id', 'uuid']).where('id', 'in', wanted).execute()
  return new Map(rows.map((row) => [row.id, row.uuid ?? '']))
}

/** All portgroups of a node, oldest first. */
export const listPortgroupsByNodeId = (db: Db, nodeId: number): Promise<Portgroup[]> =>
  listPortgroups(db, { filters: { node_id: nodeId } })
