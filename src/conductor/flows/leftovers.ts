import { agentSessionKeys, dropInternal, flowLeftovers, setInternal } from '../../domain/internal-info.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { fastTrackAble } from '../fast-track.ts'

/** Forgets the agent's address and credentials. */
export const wipeAgentSession = (task: ConductorTask): void => dropInternal(task.node, agentSessionKeys)

/**
 * Takes out of `driver_internal_info` what a flow of that kind left there. The agent stays known when it may be used again
 * (fast track), but never after servicing.
 */
export async function wipeLeftovers(task: ConductorTask, phase: keyof typeof flowLeftovers): Promise<void> {
  if (phase === 'service' || !(await fastTrackAble(task))) wipeAgentSession(task)
  const { steps, keys } = flowLeftovers[phase]
  setInternal(task.node, steps, null)
  dropInternal(task.node, keys)
}
