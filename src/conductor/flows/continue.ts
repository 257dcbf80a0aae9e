/** A flow in its wait state goes on: an agent's heartbeat, a poller or an `unhold` says so. */
import { internalInfo } from '../../domain/internal-info.ts'
import { InvalidState } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { checkStoredSteps, readyDeploySteps, setAutomatedCleanSteps, storedSteps } from '../steps.ts'
import { background, type Background } from '../tasks.ts'
import { abortStepFlow } from './abort.ts'
import { failStepFlow } from './fail.ts'
import { nextIndex, runSteps } from './run.ts'
import { recordFlow } from './step-history.ts'
import { cleanFlow, deployFlow, flowOfState, serviceFlow, type StepFlow } from './step-flows.ts'

/** Fires `resume` and goes on behind the current step. A node that is in no wait state any more is left alone. */
export async function resumeFlow(task: ConductorTask): Promise<void> {
  const { node } = task
  const flow = flowOfState(node.provision_state)
  if (flow === undefined || node.provision_state !== flow.waiting) {
    task.log.warning(`Node ${node.uuid} is in the state ${node.provision_state}, so there is nothing to go on with`)
    return
  }
  await task.fire('resume', { targetState: flow.target(task) })
  await continueFlow(task, flow)
}

/** Goes on in the running state. */
export async function continueFlow(task: ConductorTask, flow: StepFlow): Promise<void> {
  try {
    await readySteps(task, flow)
  } catch (error) {
    await failStepFlow(task, flow, {
      message: `The ${flow.phase} steps of node ${task.node.uuid} do not fit: ${messageOf(error)}`,
      cause: error,
    })
    if (error instanceof IronicError) return
    throw error
  }
  const index = nextIndex(task, flow)
  if (task.node[flow.stepField]?.['abort_after'] === true) {
    await task.fire('fail', { targetState: flow.target(task) })
    return abortStepFlow(task, flow)
  }
  const steps = storedSteps(task, flow.phase)
  await runSteps(task, flow, index !== null && index < steps.length ? index : null)
}

/** The agent has brought its steps: what could not be checked before it ran is checked now. */
async function readySteps(task: ConductorTask, flow: StepFlow): Promise<void> {
  const info = internalInfo(task.node)
  if (flow === deployFlow) return readyDeploySteps(task)
  const started = Object.keys(task.node[flow.stepField] ?? {}).length > 0
  if (started) return
  if (flow === cleanFlow && info['declarative_cleaning'] !== true) await setAutomatedCleanSteps(task)
  else await checkStoredSteps(task, flow === cleanFlow ? 'clean' : 'service')
  await recordFlow(task, flow, storedSteps(task, flow.phase), 'start')
}

/**
 * Ends a hold. With a living agent the next heartbeat goes on, as it does after any wait; where none is to be expected the
 * flow goes on at once.
 */
export async function unhold(task: ConductorTask): Promise<Background | void> {
  const flow = flowOfState(task.node.provision_state)
  if (flow === undefined) throw new InvalidState(`Node ${task.node.uuid} is not held.`)
  await task.fire('unhold', { targetState: flow.target(task) })
  if (flow !== serviceFlow && internalInfo(task.node)['agent_url']) return
  return background(() => resumeFlow(task))
}
