/** What a user's `abort` does, by the state that the node is in. */
import { dropInternal, internalInfo } from '../../domain/internal-info.ts'
import { stepId } from '../../domain/step-list.ts'
import { faults } from '../../domain/states.ts'
import type { Step } from '../../domain/steps.ts'
import { InvalidState } from '../../errors/base.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { background, type Background } from '../tasks.ts'
import { failStepFlow } from './fail.ts'
import { abortInspection } from './inspect.ts'
import { wipeLeftovers } from './leftovers.ts'
import { dropRescuePassword } from './rescue.ts'
import { deployFlow, flowOfState, serviceFlow, type StepFlow } from './step-flows.ts'
import { removeInstance } from './tear-down.ts'

/** States in which `abort` is more than an event. */
export const abortableStates: readonly (string | null)[] = [
  'clean wait',
  'clean hold',
  'wait call-back',
  'deploy hold',
  'service wait',
  'service hold',
  'service failed',
  'rescue wait',
  'inspect wait',
]

/** @returns what goes on after the answer */
export async function abortOperation(task: ConductorTask): Promise<Background | void> {
  const { node } = task
  const state = node.provision_state
  if (state === 'inspect wait') return abortInspection(task)
  if (state === 'rescue wait') return abortRescue(task)
  if (state === 'service failed') return leaveServiceFailed(task)
  const flow = flowOfState(state)
  if (flow === undefined) throw new InvalidState(`Node ${node.uuid} has nothing to abort in the state ${state}.`)
  if (deferred(task, flow)) return task.save()
  if (flow === deployFlow) dropInternal(node, ['agent_url'])
  const options = { begins: true, targetState: flow.target(task), lastError: abortMessage(task, flow) }
  // an aborted service gives the machine back to its instance
  if (flow === serviceFlow) await task.fire('fail', options)
  await task.fire('abort', options)
  return background(() => (state === 'deploy hold' ? dropHeldInstance(task) : abortStepFlow(task, flow)))
}

/** A deploy that was held has no agent that could have been cut off; its instance goes. */
async function dropHeldInstance(task: ConductorTask): Promise<void> {
  const { node } = task
  const message = abortMessage(task, deployFlow)
  node.deploy_step = {}
  try {
    await removeInstance(task, 'deploy hold')
    node.last_error = message
  } catch (error) {
    const trouble = `${message} Removing the instance failed: ${messageOf(error)}`
    task.log.error(trouble, { error })
    await task.addHistory(trouble, deployFlow.historyType)
  }
  await task.save()
}

/** A step that must not be cut off ends first; the flow is aborted after it. */
function deferred(task: ConductorTask, flow: StepFlow): boolean {
  const step = task.node[flow.stepField] as Step | null
  if (task.node.provision_state === 'deploy hold') return false
  if (step === null || Object.keys(step).length === 0 || step.abortable === true) return false
  task.log.info(`The step ${stepId(step)} of node ${task.node.uuid} cannot be cut off; the abort follows its end`)
  task.node[flow.stepField] = { ...step, abort_after: true }
  return true
}

function abortMessage(task: ConductorTask, flow: StepFlow): string {
  const step = task.node[flow.stepField] as Step | null
  const where = step !== null && step.step !== undefined ? ` during or after the step ${stepId(step)}` : ''
  return `By request, ${flow.called} was aborted${where}.`
}

/** Tears down what the flow had built up; the node is in the fail state already. */
export async function abortStepFlow(task: ConductorTask, flow: StepFlow): Promise<void> {
  const { node } = task
  const message = abortMessage(task, flow)
  try {
    await tearDownAborted(task, flow)
  } catch (error) {
    await failStepFlow(task, flow, {
      message: `The node could not be taken out of ${flow.called} after it was aborted: ${messageOf(error)}`,
      cause: error,
      tearDown: false,
      setFailState: false,
    })
    return
  }
  node.last_error = message
  node[flow.stepField] = null
  await wipeLeftovers(task, flow.phase)
  await task.save()
  if (flow !== deployFlow) await task.driver.deploy.restoreInterface(task)
  task.log.info(`Node ${node.uuid}: ${message}`)
}

/** A serviced machine whose agent was started goes back to its instance. */
async function tearDownAborted(task: ConductorTask, flow: StepFlow): Promise<void> {
  const agentStarted = flow === serviceFlow && internalInfo(task.node)['agent_start_attempted'] === true
  if (!agentStarted) return flow.tearDown(task)
  const { power, boot } = task.driver
  await power.setPowerState(task, 'power off')
  await flow.tearDown(task)
  await boot.prepareInstance(task)
  await power.setPowerState(task, 'power on')
}

async function leaveServiceFailed(task: ConductorTask): Promise<Background> {
  const { node } = task
  if (node.maintenance) {
    throw new InvalidState(
      `Servicing of node ${node.uuid} cannot be aborted while it is in maintenance; take it out of maintenance first.`,
    )
  }
  await task.fire('abort', { begins: true })
  return background(() => abortStepFlow(task, serviceFlow))
}

async function abortRescue(task: ConductorTask): Promise<Background> {
  const { node } = task
  dropRescuePassword(node)
  await task.fire('abort', { begins: true })
  return background(async () => {
    try {
      await task.driver.rescue.cleanUp(task)
    } catch (error) {
      const message = `The rescue of node ${node.uuid} was aborted, but cleaning up after it failed: ${messageOf(error)}`
      task.log.error(message, { error })
      await task.addHistory(message, 'rescue')
      Object.assign(node, { maintenance: true, maintenance_reason: message, fault: faults.RESCUE_ABORT_FAILURE })
      return task.save()
    }
    await task.addHistory('By request, the rescue was aborted.', 'rescue', 'INFO')
    dropInternal(node, ['agent_url'])
    await task.save()
  })
}
