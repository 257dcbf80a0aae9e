/** Connectors and targets are served alike; what differs between them is told here. */
import type { Row } from '../../../db/codec.ts'
import type { Db } from '../../../db/database.ts'
import {
  createVolumeConnector,
  getVolumeConnector,
  listVolumeConnectorRows,
  type VolumeConnectorList,
} from '../../../db/volume-connectors.ts'
import { createVolumeTarget, getVolumeTarget, listVolumeTargetRows } from '../../../db/volume-targets.ts'
import type { IronicError } from '../../../errors/define.ts'
import { VolumeConnectorNotFound, VolumeTargetNotFound } from '../../../errors/volume.ts'
import type { RequestContext } from '../../../domain/context.ts'
import { parseJson } from '../../../lib/json/exact.ts'
import { maskMembers, mayHoldSecret } from '../../../lib/secrets/mask.ts'
import type { VolumeConnector, VolumeTarget } from '../../../objects/index.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import type { FieldTable } from '../../resource.ts'
import type { Members } from '../../values.ts'
import { defineView, type View, type ViewContext } from '../../view.ts'
import { connectorFields, targetFields } from './fields.ts'

export interface VolumeView extends ViewContext {
  /** whether the caller may see how a target is reached */
  readonly showProperties: boolean
}

/** What both have. */
interface Owned {
  readonly id: number
  readonly uuid: string | null
  readonly node_id: number | null
}

export interface VolumeKind<T extends Owned> {
  /** last segment of the path and name of the list in its answer */
  readonly name: 'connectors' | 'targets'
  /** what notifications call it */
  readonly event: 'volumeconnector' | 'volumetarget'
  readonly fields: FieldTable
  readonly view: View<VolumeView>
  readonly unsortable: readonly string[]
  missing(ident: string): IronicError
  get(db: Db, uuid: string): Promise<T>
  create(db: Db, values: Partial<T>): Promise<T>
  rows(db: Db, list: VolumeConnectorList): Promise<Row[]>
  update(
    conductor: ConductorClient,
    context: RequestContext,
    data: T,
    changes: readonly (keyof T & string)[],
  ): Promise<T>
  destroy(conductor: ConductorClient, context: RequestContext, data: T): Promise<void>
}

export const connectorKind: VolumeKind<VolumeConnector> = {
  name: 'connectors',
  event: 'volumeconnector',
  fields: connectorFields,
  view: defineView<VolumeView>({ fields: connectorFields, resource: 'volume/connectors', extrasNamed: true }),
  unsortable: ['extra'],
  missing: (connector) => new VolumeConnectorNotFound({ connector }),
  get: getVolumeConnector,
  create: createVolumeConnector,
  rows: listVolumeConnectorRows,
  update: (conductor, context, data, changes) =>
    conductor.update_volume_connector(context, { connector: { data, changes } }),
  destroy: (conductor, context, data) =>
    conductor.destroy_volume_connector(context, { connector: { data, changes: [] } }),
}

const redacted = JSON.stringify({
  redacted_contents:
    '** Value redacted: Requires permission baremetal:volume:view_target_properties access. Permission denied. **',
})

/** Passwords in the properties of a target are shown to nobody. */
function propertiesText(row: Row, { showProperties }: VolumeView): string {
  if (!showProperties) return redacted
  const text = (row['properties'] as string | null | undefined) || '{}'
  return mayHoldSecret(text) ? JSON.stringify(maskMembers(parseJson(text) as Members, '******')) : text
}

export const targetKind: VolumeKind<VolumeTarget> = {
  name: 'targets',
  event: 'volumetarget',
  fields: targetFields,
  view: defineView<VolumeView>({
    fields: targetFields,
    resource: 'volume/targets',
    extrasNamed: true,
    made: { properties: propertiesText },
  }),
  unsortable: ['extra', 'properties'],
  missing: (target) => new VolumeTargetNotFound({ target }),
  get: getVolumeTarget,
  create: createVolumeTarget,
  rows: listVolumeTargetRows,
  update: (conductor, context, data, changes) => conductor.update_volume_target(context, { target: { data, changes } }),
  destroy: (conductor, context, data) => conductor.destroy_volume_target(context, { target: { data, changes: [] } }),
}
