/** How flows end when they fail: `last_error` and history, what was built up torn down, the fail state. */
import { dropInternal, stepFlags } from '../../domain/internal-info.ts'
import type { FlowFailure } from '../../drivers/task.ts'
import { InvalidState } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf, powerAction } from '../power-action.ts'
import { wipeAgentSession, wipeLeftovers } from './leftovers.ts'
import { withNetworkPower } from './network-power.ts'
import { deployFlow, flowOfState, type StepFlow } from './step-flows.ts'

const rescueStates: readonly (string | null)[] = ['rescuing', 'rescue wait', 'rescue failed']
const inspectStates: readonly (string | null)[] = ['inspecting', 'inspect wait', 'inspect failed']

/** Ends the flow that the node's state belongs to. @throws InvalidState in a state without one */
export async function failFlow(task: ConductorTask, failure: FlowFailure): Promise<void> {
  const state = task.node.provision_state
  const flow = flowOfState(state)
  if (flow !== undefined) return failStepFlow(task, flow, failure)
  if (rescueStates.includes(state)) return failRescue(task, failure)
  if (inspectStates.includes(state)) return failInspection(task, failure)
  throw new InvalidState(`Node ${task.node.uuid} has no flow that could fail in the state ${state}.`)
}

function logFailure(task: ConductorTask, { message, logMessage, cause }: FlowFailure): void {
  // a declared error says all there is to know; of any other the stack is needed
  const detail = cause === undefined || cause instanceof IronicError ? {} : { error: cause }
  task.log.error(logMessage ?? `Node ${task.node.uuid}: ${message}`, detail)
}

export async function failStepFlow(task: ConductorTask, flow: StepFlow, failure: FlowFailure): Promise<void> {
  const { node, config } = task
  const {
    setMaintenance = Object.keys(node[flow.stepField] ?? {}).length > 0,
    tearDown = true,
    setFailState = true,
  } = failure
  const target = flow.target(task)
  logFailure(task, failure)
  let { message } = failure
  // deploys take long to clean up: who watches learns the reason first
  if (flow === deployFlow) {
    await task.addHistory(message, flow.historyType)
    await task.save()
  }
  if (setMaintenance && flow.fault !== null) {
    node.fault = flow.fault
    node.maintenance = true
  }
  if (tearDown) {
    const trouble = await tryTearDown(task, flow)
    if (trouble !== null) message = `${message} ${trouble}`
  }
  await forgetFlow(task, flow)
  if (flow !== deployFlow || message !== failure.message) await task.addHistory(message, flow.historyType)
  if (setMaintenance && flow.fault !== null) node.maintenance_reason ??= message
  if (flow.powerOffOption !== null && config.conductor[flow.powerOffOption]) await powerOffAfterFailure(task)
  // powering off, and what else went on meanwhile, must not hide what failed
  node.last_error = message
  if (flow !== deployFlow) await task.driver.deploy.restoreInterface(task)
  if (setFailState && node.provision_state !== flow.failed) await task.fire('fail', { targetState: target })
  else await task.save()
}

/** @returns what went wrong with it, as a sentence */
async function tryTearDown(task: ConductorTask, flow: StepFlow): Promise<string | null> {
  try {
    await flow.tearDown(task)
    return null
  } catch (error) {
    const text = messageOf(error)
    task.log.error(`Node ${task.node.uuid} could not be taken out of ${flow.called}: ${text}`, { error })
    return `Taking the node out of ${flow.called} failed as well: ${text}`
  }
}

/** The step and what the flow kept; only while the node is still the flow's. */
async function forgetFlow(task: ConductorTask, flow: StepFlow): Promise<void> {
  const { node } = task
  const own: readonly (string | null)[] = [flow.running, flow.waiting, flow.held, flow.failed]
  if (!own.includes(node.provision_state)) return
  node[flow.stepField] = {}
  if (flow === deployFlow) return wipeLeftovers(task, 'deploy')
  dropInternal(node, [`${flow.phase}_step_index`, ...stepFlags])
  wipeAgentSession(task)
}

async function powerOffAfterFailure(task: ConductorTask): Promise<void> {
  try {
    await powerAction(task, 'power off')
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    task.log.error(`Node ${task.node.uuid} could not be powered off after its failure: ${error.message}`)
  }
}

export async function failRescue(task: ConductorTask, failure: FlowFailure): Promise<void> {
  const { node } = task
  let { message } = failure
  logFailure(task, failure)
  try {
    await powerAction(task, 'power off')
    await task.driver.rescue.cleanUp(task)
  } catch (error) {
    message = `${message} Cleaning up after the rescue failed as well: ${messageOf(error)}`
    task.log.error(`Node ${node.uuid} could not be cleaned up after its rescue failed: ${messageOf(error)}`, { error })
  }
  dropInternal(node, ['agent_url'])
  await task.addHistory(message, 'rescue')
  const fails = (failure.setFailState ?? true) && task.takes('fail')
  if (fails) await task.fire('fail')
  else await task.save()
}

export async function failInspection(task: ConductorTask, failure: FlowFailure): Promise<void> {
  logFailure(task, failure)
  let { message } = failure
  if (failure.tearDown ?? true) {
    for (const trouble of await tearDownInspection(task)) message = `${message} ${trouble}`
  }
  await task.addHistory(message, 'introspection')
  wipeAgentSession(task)
  const fails = (failure.setFailState ?? true) && task.takes('fail')
  if (fails) await task.fire('fail')
  else await task.save()
}

/** @returns what went wrong, a sentence each */
async function tearDownInspection(task: ConductorTask): Promise<string[]> {
  const troubles: string[] = []
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (error instanceof UnsupportedDriverExtension) throw error
      task.log.error(`Node ${task.node.uuid}: ${what} failed: ${messageOf(error)}`, { error })
      troubles.push(`${what} failed as well: ${messageOf(error)}`)
    }
  }
  try {
    await attempt('Aborting the inspection', () => task.driver.inspect.abort(task))
  } catch (error) {
    if (!(error instanceof UnsupportedDriverExtension)) throw error
    await attempt('Taking the ramdisk away', () => task.driver.boot.cleanUpRamdisk(task))
  }
  await attempt('Removing the inspection network', () =>
    withNetworkPower(task, () => task.driver.network.removeInspectionNetwork(task)),
  )
  return troubles
}
