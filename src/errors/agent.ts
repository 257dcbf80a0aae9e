import { defineError } from './define.ts'
import { NotFound } from './base.ts'

export const AgentAPIError = defineError<{ node: unknown; status: unknown; error: unknown }>(
  'AgentAPIError',
  500,
  (p) => `The agent on node ${p.node} answered with status ${p.status}: ${p.error}`,
)
export const AgentCommandTimeout = defineError<{ command: unknown; node: unknown }>(
  'AgentCommandTimeout',
  500,
  (p) => `The agent command ${p.command} on node ${p.node} did not end in time; see the agent's log.`,
)
export const AgentConnectionFailed = defineError<{ reason: unknown }>(
  'AgentConnectionFailed',
  500,
  (p) => `The agent cannot be reached: ${p.reason}`,
)
export const AgentInProgress = defineError<{ node: unknown; command: unknown; error: unknown }>(
  'AgentInProgress',
  500,
  (p) => `The agent on node ${p.node} is busy with another command and did not take ${p.command}: ${p.error}`,
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
  (p) => `The instance could not be deployed: ${p.reason}`,
)
export const InstanceNotFound = defineError<{ instance: unknown }>(
  'InstanceNotFound',
  NotFound,
  (p) => `Instance does not exist: instance ${p.instance}.`,
)
export const InstanceRescueFailure = defineError<{ instance: unknown; node: unknown; reason: unknown }>(
  'InstanceRescueFailure',
  500,
  (p) => `Node ${p.node} (instance ${p.instance}) could not be rescued: ${p.reason}`,
)
export const InstanceUnrescueFailure = defineError<{ instance: unknown; node: unknown; reason: unknown }>(
  'InstanceUnrescueFailure',
  500,
  (p) => `Node ${p.node} (instance ${p.instance}) could not be taken back from rescue: ${p.reason}`,
)
