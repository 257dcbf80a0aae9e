import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'

export const VolumeConnectorAlreadyExists = defineError<{ uuid: unknown }>(
  'VolumeConnectorAlreadyExists',
  Conflict,
  (p) => `A volume connector with the uuid ${p.uuid} exists already.`,
)
export const VolumeConnectorNotFound = defineError<{ connector: unknown }>(
  'VolumeConnectorNotFound',
  NotFound,
  (p) => `Volume connector ${p.connector} does not exist.`,
)
// the Tempest plugin of Ironic reads this sentence and that of the boot index
export const VolumeConnectorTypeAndIdAlreadyExists = defineError<{ type: unknown; connector_id: unknown }>(
  'VolumeConnectorTypeAndIdAlreadyExists',
  Conflict,
  (p) => `A volume connector of type ${p.type} with the connector_id ${p.connector_id} already exists.`,
)
export const VolumeTargetAlreadyExists = defineError<{ uuid: unknown }>(
  'VolumeTargetAlreadyExists',
  Conflict,
  (p) => `A volume target with the uuid ${p.uuid} exists already.`,
)
export const VolumeTargetBootIndexAlreadyExists = defineError<{ boot_index: unknown }>(
  'VolumeTargetBootIndexAlreadyExists',
  Conflict,
  (p) => `A volume target of the node with boot_index ${p.boot_index} already exists.`,
)
export const VolumeTargetNotFound = defineError<{ target: unknown }>(
  'VolumeTargetNotFound',
  NotFound,
  (p) => `Volume target ${p.target} does not exist.`,
)
