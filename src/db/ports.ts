import { MACAlreadyExists, PortAlreadyExists, PortDuplicateName, PortNotFound } from '../errors/port.ts'
import { PortObject, type Port } from '../objects/port.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { isUuid } from './identity.ts'
import type { Page } from './paging.ts'
import {
  type Conditions,
  deleteRow,
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

export type PortValues = Partial<Omit<Port, 'id' | 'node_uuid' | 'created_at' | 'updated_at'>>

export const portCodec = codec<Port>(
  PortObject,
  'ports',
  { pxe_enabled: 1, is_smartnic: 0, available_for_dynamic_portgroup: 1 },
  ['node_uuid'],
)

const ports: Entity<Port> = {
  table: 'ports',
  codec: portCodec,
  ofNode: true,
  notFound: (port) => new PortNotFound({ port }),
  conflict: (columns, values) => {
    if (columns.includes('address')) return new MACAlreadyExists({ mac: values.address })
    if (columns.includes('name')) return new PortDuplicateName({ name: values.name })
    return new PortAlreadyExists({ uuid: values.uuid })
  },
}

const isMac = (text: string) => /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text)

/** By uuid, MAC address or name. @throws PortNotFound */
export const getPort = (db: Db, ident: string): Promise<Port> =>
  getRow(
    db,
    ports,
    isUuid(ident) ? 'uuid' : isMac(ident) ? 'address' : 'name',
    isMac(ident) ? ident.toLowerCase() : ident,
  )

/** @throws PortNotFound */
export const getPortById = (db: Db, id: number): Promise<Port> => getRow(db, ports, 'id', id)

/** @throws MACAlreadyExists @throws PortDuplicateName @throws PortAlreadyExists */
export const createPort = (db: Db, values: PortValues): Promise<Port> => insertRow(db, ports, values)

/** @throws PortNotFound @throws MACAlreadyExists @throws PortDuplicateName */
export const updatePort = (db: Db, ident: number | string, values: PortValues): Promise<Port> =>
  updateRow(db, ports, ident, values)

/** @throws PortNotFound */
export const destroyPort = (db: Db, ident: number | string): Promise<void> => deleteRow(db, ports, ident)

export interface PortFilters {
  readonly node_id?: number
  readonly node_uuid?: string
  readonly portgroup_id?: number
  readonly address?: string
  readonly name?: string
  readonly physical_network?: string
  /** shards of the ports' nodes */
  readonly shards?: readonly string[]
  /** owner of the node */
  readonly owner?: string
  /** owner or lessee of the node */
  readonly project?: string
  readonly conductor_groups?: readonly string[]
  readonly description_contains?: string
  readonly id_in?: readonly number[]
  readonly node_id_in?: readonly number[]
}

const conditions: Conditions<PortFilters> = {
  node_id: equals('ports.node_id'),
  node_uuid: nodeUuidIs,
  portgroup_id: equals('ports.portgroup_id'),
  address: (query, address) => query.where('ports.address', '=', address.toLowerCase()),
  name: equals('ports.name'),
  physical_network: equals('ports.physical_network'),
  shards: within('nodes.shard'),
  owner: equals('nodes.owner'),
  project: ofProject,
  conductor_groups: (query, groups) => (groups.length === 0 ? query : within('nodes.conductor_group')(query, groups)),
  description_contains: (query, part) => query.where('ports.description', 'like', `%${part}%`),
  id_in: within('ports.id'),
  node_id_in: within('ports.node_id'),
}

export interface PortList extends Page {
  readonly filters?: PortFilters
}

/** As `listPorts`, the rows as the database has them, with `node_uuid`. */
export const listPortRows = (db: Db, { filters = {}, ...page }: PortList = {}): Promise<Row[]> =>
  listRows(db, ports, page, filtering(conditions, filters))

/** @throws PortNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listPorts = async (db: Db, list: PortList = {}): Promise<Port[]> =>
  (await listPortRows(db, list)).map(portCodec.decode)

/** All ports of a node, oldest first. */
export const listPortsByNodeId = (db: Db, nodeId: number): Promise<Port[]> =>
  listPorts(db, { filters: { node_id: nodeId } })

/** The ports of a portgroup, oldest first. */
export const listPortsByPortgroupId = (db: Db, portgroupId: number): Promise<Port[]> =>
  listPorts(db, { filters: { portgroup_id: portgroupId } })
