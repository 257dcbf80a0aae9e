import {
  VolumeConnectorAlreadyExists,
  VolumeConnectorNotFound,
  VolumeConnectorTypeAndIdAlreadyExists,
} from '../errors/volume.ts'
import { VolumeConnectorObject, type VolumeConnector } from '../objects/volume-connector.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import type { Page } from './paging.ts'
import {
  type Conditions,
  conflictOr,
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
} from './rows.ts'

export type VolumeConnectorValues = Partial<Omit<VolumeConnector, 'id' | 'created_at' | 'updated_at'>>

export const volumeConnectorCodec = codec<VolumeConnector>(VolumeConnectorObject, 'volume_connectors')

const connectors: Entity<VolumeConnector> = {
  table: 'volume_connectors',
  codec: volumeConnectorCodec,
  ofNode: true,
  notFound: (connector) => new VolumeConnectorNotFound({ connector }),
  conflict: (columns, { type, connector_id, uuid }) =>
    columns.includes('type')
      ? new VolumeConnectorTypeAndIdAlreadyExists({ type, connector_id })
      : new VolumeConnectorAlreadyExists({ uuid }),
}

/** @throws VolumeConnectorNotFound */
export const getVolumeConnector = (db: Db, uuid: string): Promise<VolumeConnector> =>
  getRow(db, connectors, 'uuid', uuid)

/** @throws VolumeConnectorNotFound */
export const getVolumeConnectorById = (db: Db, id: number): Promise<VolumeConnector> => getRow(db, connectors, 'id', id)

/** @throws VolumeConnectorTypeAndIdAlreadyExists @throws VolumeConnectorAlreadyExists */
export const createVolumeConnector = (db: Db, values: VolumeConnectorValues): Promise<VolumeConnector> =>
  insertRow(db, connectors, values)

/** @throws VolumeConnectorNotFound @throws VolumeConnectorTypeAndIdAlreadyExists */
export async function updateVolumeConnector(
  db: Db,
  ident: number | string,
  values: VolumeConnectorValues,
): Promise<VolumeConnector> {
  const { type, connector_id } =
    typeof ident === 'number' ? await getVolumeConnectorById(db, ident) : await getVolumeConnector(db, ident)
  try {
    return await updateRow(db, connectors, ident, values)
  } catch (error) {
    // the error names the pair that is taken, of which the change may bring only one half
    if (error instanceof VolumeConnectorTypeAndIdAlreadyExists)
      throw conflictOr(error.cause, connectors, { type, connector_id, ...values })
    throw error
  }
}

/** @throws VolumeConnectorNotFound */
export const destroyVolumeConnector = (db: Db, ident: number | string): Promise<void> =>
  deleteRow(db, connectors, ident)

export interface VolumeConnectorFilters {
  readonly node_id?: number
  readonly node_uuid?: string
  /** owner or lessee of the node */
  readonly project?: string
}

const conditions: Conditions<VolumeConnectorFilters> = {
  node_id: equals('volume_connectors.node_id'),
  node_uuid: nodeUuidIs,
  project: ofProject,
}

export interface VolumeConnectorList extends Page {
  readonly filters?: VolumeConnectorFilters
}

/** As `listVolumeConnectors`, the rows as the database has them, with `node_uuid`. */
export const listVolumeConnectorRows = (db: Db, { filters = {}, ...page }: VolumeConnectorList = {}): Promise<Row[]> =>
  listRows(db, connectors, page, filtering(conditions, filters))

/** @throws VolumeConnectorNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listVolumeConnectors = async (db: Db, list: VolumeConnectorList = {}): Promise<VolumeConnector[]> =>
  (await listVolumeConnectorRows(db, list)).map(volumeConnectorCodec.decode)

/** All connectors of a node, oldest first. */
export const listVolumeConnectorsByNodeId = (db: Db, nodeId: number): Promise<VolumeConnector[]> =>
  listVolumeConnectors(db, { filters: { node_id: nodeId } })
