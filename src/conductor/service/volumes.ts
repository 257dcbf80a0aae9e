import {
  destroyVolumeConnector,
  updateVolumeConnector,
  type VolumeConnectorValues,
} from '../../db/volume-connectors.ts'
import { destroyVolumeTarget, updateVolumeTarget, type VolumeTargetValues } from '../../db/volume-targets.ts'
import { DELETE_ALLOWED_STATES } from '../../domain/states.ts'
import { InvalidStateRequested } from '../../errors/node.ts'
import type { ConductorTask } from '../conductor-task.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const volumeMethods = (
  parts: ServiceParts,
): Methods<
  'update_volume_connector' | 'destroy_volume_connector' | 'update_volume_target' | 'destroy_volume_target'
> => ({
  update_volume_connector: (context, { connector: { data, changes } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'volume connector update', async (task) => {
      needOff(task, 'volume connector update')
      return updateVolumeConnector(task.db, data.id, pick(data, changes) as VolumeConnectorValues)
    }),
  destroy_volume_connector: (context, { connector: { data } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'volume connector deletion', async (task) => {
      needOff(task, 'volume connector deletion', DELETE_ALLOWED_STATES)
      await destroyVolumeConnector(task.db, data.uuid!)
    }),
  update_volume_target: (context, { target: { data, changes } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'volume target update', async (task) => {
      needOff(task, 'volume target update')
      return updateVolumeTarget(task.db, data.id, pick(data, changes) as VolumeTargetValues)
    }),
  destroy_volume_target: (context, { target: { data } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'volume target deletion', async (task) => {
      needOff(task, 'volume target deletion', DELETE_ALLOWED_STATES)
      await destroyVolumeTarget(task.db, data.uuid!)
    }),
})

const notWritten: ReadonlySet<string> = new Set(['id', 'uuid', 'created_at', 'updated_at'])
const pick = <T extends object>(data: T, fields: readonly (keyof T & string)[]): Partial<T> =>
  Object.fromEntries(
    fields.filter((field) => !notWritten.has(field)).map((field) => [field, data[field]]),
  ) as Partial<T>

/** A running machine may be using the volume. */
function needOff({ node }: ConductorTask, action: string, orIn: ReadonlySet<string | null> = new Set()): void {
  if (node.power_state === 'power off' || orIn.has(node.provision_state)) return
  throw new InvalidStateRequested({ action, node: node.uuid, state: node.power_state })
}
