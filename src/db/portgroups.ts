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
import { type AnyQuery, type Entity, getRow, insertRow, listRows, ofProject, updateRow } from './rows.ts'

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

const conditions: {
  [F in keyof PortgroupFilters]-?: (query: AnyQuery, value: NonNullable<PortgroupFilters[F]>) => AnyQuery
} = {
  node_id: (query, id) => query.where('portgroups.node_id', '=', id),
  node_uuid: (query, uuid) => query.where('nodes.uuid', '=', uuid),
  address: (query, address) => query.where('portgroups.address', '=', address.toLowerCase()),
  name: (query, name) => query.where('portgroups.name', '=', name),
  shards: (query, shards) =>
    shards.length === 0 ? query.where((eb) => eb.val(0)) : query.where('nodes.shard', 'in', shards),
  project: ofProject,
  conductor_groups: (query, groups) =>
    groups.length === 0 ? query : query.where('nodes.conductor_group', 'in', groups),
  id_in: (query, ids) => (ids.length === 0 ? query.where((eb) => eb.val(0)) : query.where('portgroups.id', 'in', ids)),
}

export interface PortgroupList extends Page {
  readonly filters?: PortgroupFilters
}

/** As `listPortgroups`, the rows as the database has them, with `node_uuid`. */
export const listPortgroupRows = (db: Db, { filters = {}, ...page }: PortgroupList = {}): Promise<Row[]> =>
  listRows(db, portgroups, page, (query) =>
    Object.entries(filters).reduce(
      (next, [name, value]) =>
        value === undefined
          ? next
          : (conditions[name as keyof PortgroupFilters] as (query: AnyQuery, value: unknown) => AnyQuery)(next, value),
      query,
    ),
  )

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
