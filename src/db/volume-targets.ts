import {
  VolumeTargetAlreadyExists,
  VolumeTargetBootIndexAlreadyExists,
  VolumeTargetNotFound,
} from '../errors/volume.ts'
import { VolumeTargetObject, type VolumeTarget } from '../objects/volume-target.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
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
} from './rows.ts'

export type VolumeTargetValues = Partial<Omit<VolumeTarget, 'id' | 'created_at' | 'updated_at'>>

export const volumeTargetCodec = codec<VolumeTarget>(VolumeTargetObject, 'volume_targets')

const targets: Entity<VolumeTarget> = {
  table: 'volume_targets',
  codec: volumeTargetCodec,
  ofNode: true,
  notFound: (target) => new VolumeTargetNotFound({ target }),
  conflict: (columns, { boot_index, uuid }) =>
    columns.includes('boot_index')
      ? new VolumeTargetBootIndexAlreadyExists({ boot_index })
      : new VolumeTargetAlreadyExists({ uuid }),
}

/** @throws VolumeTargetNotFound */
export const getVolumeTarget = (db: Db, uuid: string): Promise<VolumeTarget> => getRow(db, targets, 'uuid', uuid)

/** @throws VolumeTargetNotFound */
export const getVolumeTargetById = (db: Db, id: number): Promise<VolumeTarget> => getRow(db, targets, 'id', id)

/** @throws VolumeTargetBootIndexAlreadyExists @throws VolumeTargetAlreadyExists */
export const createVolumeTarget = (db: Db, values: VolumeTargetValues): Promise<VolumeTarget> =>
  insertRow(db, targets, values)

/** @throws VolumeTargetNotFound @throws VolumeTargetBootIndexAlreadyExists */
export const updateVolumeTarget = (db: Db, ident: number | string, values: VolumeTargetValues): Promise<VolumeTarget> =>
  updateRow(db, targets, ident, values)

/** @throws VolumeTargetNotFound */
export const destroyVolumeTarget = (db: Db, ident: number | string): Promise<void> => deleteRow(db, targets, ident)

export interface VolumeTargetFilters {
  readonly node_id?: number
  readonly node_uuid?: string
  /** id of the volume at its provider */
  readonly volume_id?: string
  /** owner or lessee of the node */
  readonly project?: string
}

const conditions: Conditions<VolumeTargetFilters> = {
  node_id: equals('volume_targets.node_id'),
  node_uuid: nodeUuidIs,
  volume_id: equals('volume_targets.volume_id'),
  project: ofProject,
}

export interface VolumeTargetList extends Page {
  readonly filters?: VolumeTargetFilters
}

/** As `listVolumeTargets`, the rows as the database has them, with `node_uuid`. */
export const listVolumeTargetRows = (db: Db, { filters = {}, ...page }: VolumeTargetList = {}): Promise<Row[]> =>
  listRows(db, targets, page, filtering(conditions, filters))

/** @throws VolumeTargetNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listVolumeTargets = async (db: Db, list: VolumeTargetList = {}): Promise<VolumeTarget[]> =>
  (await listVolumeTargetRows(db, list)).map(volumeTargetCodec.decode)

/** All targets of a node, oldest first. */
export const listVolumeTargetsByNodeId = (db: Db, nodeId: number): Promise<VolumeTarget[]> =>
  listVolumeTargets(db, { filters: { node_id: nodeId } })
