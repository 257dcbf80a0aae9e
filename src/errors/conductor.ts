import { defineError } from './define.ts'
import { NotAuthorized, NotFound, TemporaryFailure } from './base.ts'

export const ConcurrentActionLimit = defineError<{ task_type: unknown }>(
  'ConcurrentActionLimit',
  TemporaryFailure,
  (p) =>
    `As many nodes as allowed are in ${p.task_type} already; try again later, or raise [conductor]max_concurrent_deploy or max_concurrent_clean.`,
)
export const ConductorAlreadyRegistered = defineError<{ conductor: unknown }>(
  'ConductorAlreadyRegistered',
  500,
  (p) => `A conductor named ${p.conductor} is registered already.`,
)
export const ConductorHardwareInterfacesAlreadyRegistered = defineError<{ row: unknown }>(
  'ConductorHardwareInterfacesAlreadyRegistered',
  500,
  (p) => `Hardware interfaces are registered already: ${p.row}.`,
)
export const ConductorNotFound = defineError<{ conductor: unknown }>(
  'ConductorNotFound',
  NotFound,
  (p) => `Conductor ${p.conductor} does not exist.`,
)
export const ExclusiveLockRequired = defineError<Record<string, never>>(
  'ExclusiveLockRequired',
  NotAuthorized,
  () => "This needs the node's exclusive lock, and only a shared one is held.",
)
export const NoFreeConductorWorker = defineError<Record<string, never>>(
  'NoFreeConductorWorker',
  TemporaryFailure,
  () => 'The conductor has all its workers busy; try again later, or raise [conductor]workers_pool_size.',
)
export const NoFreeIPMITerminalPorts = defineError<{ host: unknown }>(
  'NoFreeIPMITerminalPorts',
  TemporaryFailure,
  (p) => `Console port range is used up: host ${p.host}.`,
)
export const NoValidHost = defineError<{ reason: unknown }>(
  'NoValidHost',
  NotFound,
  (p) => `No conductor can do this: ${p.reason}.`,
)
