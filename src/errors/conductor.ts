import { defineError } from './define.ts'
import { NotAuthorized, NotFound, TemporaryFailure } from './base.ts'

export const ConcurrentActionLimit = defineError<{ task_type: unknown }>(
  'ConcurrentActionLimit',
  TemporaryFailure,
  (p) => `Too many nodes in this phase: task_type ${p.task_type}.`,
)
export const ConductorAlreadyRegistered = defineError<{ conductor: unknown }>(
  'ConductorAlreadyRegistered',
  500,
  (p) => `Conductor row is online already: conductor ${p.conductor}.`,
)
export const ConductorHardwareInterfacesAlreadyRegistered = defineError<{ row: unknown }>(
  'ConductorHardwareInterfacesAlreadyRegistered',
  500,
  (p) => `Interface registration row is duplicate: row ${p.row}.`,
)
export const ConductorNotFound = defineError<{ conductor: unknown }>(
  'ConductorNotFound',
  NotFound,
  (p) => `Conductor does not exist: conductor ${p.conductor}.`,
)
export const ExclusiveLockRequired = defineError<Record<string, never>>(
  'ExclusiveLockRequired',
  NotAuthorized,
  () => 'Task holds only a shared lock.',
)
export const NoFreeConductorWorker = defineError<Record<string, never>>(
  'NoFreeConductorWorker',
  TemporaryFailure,
  () => 'Conductor worker pool is full.',
)
export const NoFreeIPMITerminalPorts = defineError<{ host: unknown }>(
  'NoFreeIPMITerminalPorts',
  TemporaryFailure,
  (p) => `Console port range is used up: host ${p.host}.`,
)
export const NoValidHost = defineError<{ reason: unknown }>(
  'NoValidHost',
  NotFound,
  (p) => `No conductor can serve it: reason ${p.reason}.`,
)
