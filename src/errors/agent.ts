import { defineError } from './define.ts'
import { NotFound } from './base.ts'

export const AgentAPIError = defineError<{ node: unknown; status: unknown; error: unknown }>(
  'AgentAPIError',
  500,
  (p) => `Agent answered with an error: node ${p.node}, status ${p.status}, error ${p.error}.`,
)
export const AgentCommandTimeout = defineError<{ command: unknown; node: unknown }>(
  'AgentCommandTimeout',
  500,
  (p) => `Agent command took too long: command ${p.command}, node ${p.node}.`,
)
export const AgentConnectionFailed = defineError<{ reason: unknown }>(
  'AgentConnectionFailed',
  500,
  (p) => `Agent not reachable: reason ${p.reason}.`,
)
export const AgentInProgress = defineError<{ node: unknown; command: unknown; error: unknown }>(
  'AgentInProgress',
  500,
  (p) => `Agent is busy with a command: node ${p.node}, command ${p.command}, error ${p.error}.`,
)
export const CommunicationError = defineError<Record<string, never>>(
  'CommunicationError',
  500,
  () => 'Talking to a server failed.',
)
export const IncorrectConfiguration = defineError<{ error: unknown }>(
  'IncorrectConfiguration',
  500,
  (p) => `Operator must fix the settings: error ${p.error}.`,
)
export const InstanceDeployFailure = defineError<{ reason: unknown }>(
  'InstanceDeployFailure',
  500,
  (p) => `Deployment went wrong: reason ${p.reason}.`,
)
export const InstanceNotFound = defineError<{ instance: unknown }>(
  'InstanceNotFound',
  NotFound,
  (p) => `Instance does not exist: instance ${p.instance}.`,
)
export const InstanceRescueFailure = defineError<{ instance: unknown; node: unknown; reason: unknown }>(
  'InstanceRescueFailure',
  500,
  (p) => `Rescue went wrong: instance ${p.instance}, node ${p.node}, reason ${p.reason}.`,
)
export const InstanceUnrescueFailure = defineError<{ instance: unknown; node: unknown; reason: unknown }>(
  'InstanceUnrescueFailure',
  500,
  (p) => `Unrescue went wrong: instance ${p.instance}, node ${p.node}, reason ${p.reason}.`,
)
