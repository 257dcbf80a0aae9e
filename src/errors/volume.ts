import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'

export const VolumeConnectorAlreadyExists = defineError<{ uuid: unknown }>(
  'VolumeConnectorAlreadyExists',
  Conflict,
  (p) => `Volume connector uuid is taken: uuid ${p.uuid}.`,
)
export const VolumeConnectorNotFound = defineError<{ connector: unknown }>(
  'VolumeConnectorNotFound',
  NotFound,
  (p) => `Volume connector does not exist: connector ${p.connector}.`,
)
export const VolumeConnectorTypeAndIdAlreadyExists = defineError<{ type: unknown; connector_id: unknown }>(
  'VolumeConnectorTypeAndIdAlreadyExists',
  Conflict,
  (p) => `Connector type/id pair is taken: type ${p.type}, connector_id ${p.connector_id}.`,
)
export const VolumeTargetAlreadyExists = defineError<{ uuid: unknown }>(
  'VolumeTargetAlreadyExists',
  Conflict,
  (p) => `Volume target uuid is taken: uuid ${p.uuid}.`,
)
export const VolumeTargetBootIndexAlreadyExists = defineError<{ boot_index: unknown }>(
  'VolumeTargetBootIndexAlreadyExists',
  Conflict,
  (p) => `Boot index used on this node: boot_index ${p.boot_index}.`,
)
export const VolumeTargetNotFound = defineError<{ target: unknown }>(
  'VolumeTargetNotFound',
  NotFound,
  (p) => `Volume target does not exist: target ${p.target}.`,
)
