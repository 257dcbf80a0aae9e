import type { AgentClient, AgentPhase } from '../../agent/client.ts'
import type { Step } from '../../domain/steps.ts'
import { AgentInProgress } from '../../errors/agent.ts'
import type { Node } from '../../objects/index.ts'
import type { Task } from '../task.ts'
import { internal, internalTime, setInternal } from './internal-info.ts'
import { phases } from './phases.ts'

const cacheKey = (phase: AgentPhase) => `agent_cached_${phase}_steps`

/** Steps of the running agent, as `driver_internal_info` keeps them: by interface. */
export const hasCachedSteps = (node: Node, phase: AgentPhase): boolean => internal(node, cacheKey(phase)) !== undefined

/**
 * The agent's steps for one interface, or for all of them.
 * @param priorities replace the agent's own where not null
 */
export function cachedSteps(
  node: Node,
  phase: AgentPhase,
  interfaceType: string | null = null,
  priorities: Readonly<Record<string, number | null>> = {},
): Step[] {
  const byInterface = (internal(node, cacheKey(phase)) ?? {}) as Record<string, Step[]>
  const steps = interfaceType === null ? Object.values(byInterface).flat() : (byInterface[interfaceType] ?? [])
  return steps.map((step) => ({ ...step, priority: priorities[step.step] ?? step.priority }))
}

/**
 * Asks the booted agent for its steps and keeps them with the version of its hardware managers.
 * @returns `busy` when the agent runs another command and must be asked again at its next heartbeat
 * @throws NodeCleaningFailure, InstanceDeployFailure, NodeServicingFailure when the answer makes no sense
 */
export async function refreshSteps(client: AgentClient, task: Task, phase: AgentPhase): Promise<'fresh' | 'busy'> {
  const { node } = task
  let result: unknown
  try {
    result = (await client.getSteps(phase, node, await task.ports(), task.signal)).command_result
  } catch (error) {
    if (!(error instanceof AgentInProgress)) throw error
    task.log.debug(`The agent on node ${node.uuid} is busy; its ${phase} steps are asked for at its next heartbeat`)
    return 'busy'
  }
  const answer = (result ?? {}) as Record<string, unknown>
  for (const key of [`${phase}_steps`, 'hardware_manager_version']) {
    if (!(key in answer)) {
      throw phases[phase].failure(node, `the agent's answer to get_${phase}_steps lacks ${key}`)
    }
  }
  setInternal(node, {
    hardware_manager_version: answer['hardware_manager_version'],
    [cacheKey(phase)]: byInterface(node, phase, answer[`${phase}_steps`]),
    [`${cacheKey(phase)}_refreshed`]: internalTime(task.clock.now()),
  })
  await task.save()
  return 'fresh'
}

/** The agent lists steps by hardware manager; here they are by interface. */
function byInterface(node: Node, phase: AgentPhase, listed: unknown): Record<string, Step[]> {
  if (typeof listed !== 'object' || listed === null) {
    throw phases[phase].failure(node, `the agent's ${phase} steps are no lists by hardware manager`)
  }
  const steps: Record<string, Step[]> = {}
  for (const step of Object.values(listed).flat() as Step[]) {
    const missing = ['interface', 'step', 'priority'].filter((key) => !(key in (step ?? {})))
    if (missing.length > 0) {
      throw phases[phase].failure(
        node,
        `the agent offers the ${phase} step ${JSON.stringify(step)} without ${missing.join(', ')}`,
      )
    }
    ;(steps[step.interface] ??= []).push(phase === 'clean' ? { ...step, requires_ramdisk: true } : step)
  }
  return steps
}
