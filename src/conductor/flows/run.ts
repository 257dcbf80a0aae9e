/** The one runner of steps: clean, deploy and service go through here. */
import { dropInternal, internalInfo, setInternal } from '../../domain/internal-info.ts'
import { isReserved, runsOnChildren, stepId, type ReservedStep } from '../../domain/step-list.ts'
import type { Step, StepResult } from '../../domain/steps.ts'
import { AgentConnectionFailed, AgentInProgress } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import { listNodes } from '../../db/nodes.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf, powerAction } from '../power-action.ts'
import { storedSteps } from '../steps.ts'
import { failStepFlow } from './fail.ts'
import { finishFlow } from './finish.ts'
import { recordFlow } from './step-history.ts'
import type { StepFlow } from './step-flows.ts'

/** `left`: the flow is over or waits, and something else goes on with it. */
type Outcome = StepResult | 'left'

/**
 * Runs the flow's steps. The list is read anew for each: a step may add steps. The index stands in the row before the step
 * runs, so a heartbeat or a restart knows where the flow is.
 * @param from index of the first; null: there is none left
 */
export async function runSteps(task: ConductorTask, flow: StepFlow, from: number | null): Promise<void> {
  try {
    for (let index = from; index !== null; index++) {
      const step = storedSteps(task, flow.phase)[index]
      if (step === undefined) break
      await storeIndex(task, flow, step, index)
      const outcome = await tryStep(task, flow, step)
      if (outcome === 'left' || task.node.provision_state === flow.failed) return
      if (outcome === 'wait') return await enterWait(task, flow)
      task.log.info(`Node ${task.node.uuid} finished ${flow.phase} step ${stepId(step)}`)
    }
    await finishFlow(task, flow)
  } catch (error) {
    await failStepFlow(task, flow, {
      message: `Unexpected failure in ${flow.called} of node ${task.node.uuid}: ${messageOf(error)}`,
      cause: error,
    })
  }
}

/** Where a flow in its wait state goes on: behind the current step, unless that wants to run again. Null: it was the last. */
export function nextIndex(task: ConductorTask, flow: StepFlow): number | null {
  const info = internalInfo(task.node)
  const again = info[flow.skipFlag] === false
  dropInternal(task.node, [flow.skipFlag, flow.pollingFlag])
  const current = task.node[flow.stepField] ?? {}
  if (Object.keys(current).length === 0) return 0
  const index = info[`${flow.phase}_step_index`]
  if (typeof index !== 'number') return null
  const next = again ? index : index + 1
  return next < storedSteps(task, flow.phase).length ? next : null
}

async function storeIndex(task: ConductorTask, flow: StepFlow, step: Step, index: number): Promise<void> {
  task.node[flow.stepField] = { ...step }
  setInternal(task.node, `${flow.phase}_step_index`, index)
  dropInternal(task.node, [flow.pollingFlag])
  await task.save()
}

async function enterWait(task: ConductorTask, flow: StepFlow): Promise<void> {
  if (task.node.provision_state === flow.waiting) return task.save()
  await task.fire('wait', { targetState: flow.target(task) })
}

async function tryStep(task: ConductorTask, flow: StepFlow, step: Step): Promise<Outcome> {
  try {
    task.log.info(`Node ${task.node.uuid} starts ${flow.phase} step ${stepId(step)}`)
    if (runsOnChildren(step)) return await runOnChildren(task, flow, step)
    if (isReserved(step)) return await runReserved(task, flow, step)
    return await task.driver[step.interface].executeStep(flow.phase, task, step)
  } catch (error) {
    if (await waitsForAgent(task, flow, error)) return 'left'
    // the step may have ended the flow itself
    if (task.node.provision_state === flow.failed) return 'left'
    await recordFlow(task, flow, storedSteps(task, flow.phase), 'end', step)
    if (!runsWithoutRamdisk(task, flow)) await task.driver.deploy.collectLogs(task, flow.logLabel)
    const kind = error instanceof IronicError ? '' : ` with ${error instanceof Error ? error.name : 'an error'}`
    await failStepFlow(task, flow, {
      message: `Node ${task.node.uuid} failed ${flow.phase} step ${stepId(step)}${kind}: ${messageOf(error)}`,
      cause: error,
    })
    return 'left'
  }
}

export const runsWithoutRamdisk = (task: ConductorTask, flow: StepFlow): boolean =>
  flow.withoutRamdisk !== null && internalInfo(task.node)[flow.withoutRamdisk] === true

/** The agent is on its way (after a reboot, or not heard of yet) or busy: its next heartbeat runs the step again. */
async function waitsForAgent(task: ConductorTask, flow: StepFlow, error: unknown): Promise<boolean> {
  const info = internalInfo(task.node)
  const unreachable =
    error instanceof AgentConnectionFailed &&
    (info[flow.rebootFlag] === true || (flow.phase === 'deploy' && !info['agent_url']))
  if (!unreachable && !(error instanceof AgentInProgress)) return false
  task.log.info(`Node ${task.node.uuid} waits for its agent to run the ${flow.phase} step again: ${messageOf(error)}`)
  setInternal(task.node, flow.skipFlag, false)
  await enterWait(task, flow)
  return true
}

const powerSteps: Readonly<Partial<Record<ReservedStep, string>>> = {
  power_on: 'power on',
  power_off: 'power off',
  reboot: 'rebooting',
}

/** Steps of the conductor itself. */
async function runReserved(task: ConductorTask, flow: StepFlow, step: Step): Promise<Outcome> {
  const power = powerSteps[step.step as ReservedStep]
  if (power !== undefined) {
    await powerAction(task, power)
    return 'done'
  }
  const targetState = flow.target(task)
  if (step.step === 'hold') {
    await task.fire('hold', { targetState })
    return 'left'
  }
  await task.fire('wait', { targetState })
  const seconds = step.args?.['seconds']
  if (seconds === undefined || seconds === null) return 'left'
  await task.clock.sleep((await allowedSeconds(task, seconds)) * 1000, task.signal)
  await task.fire('resume', { targetState })
  return 'done'
}

async function allowedSeconds(task: ConductorTask, wanted: unknown): Promise<number> {
  const seconds = Math.trunc(Number(wanted))
  if (Number.isNaN(seconds))
    throw new InvalidParameterValue(`The seconds of a wait step must be a number, not ${String(wanted)}.`)
  const most = task.config.conductor.max_conductor_wait_step_seconds
  if (seconds <= most) return Math.max(0, seconds)
  await task.addHistory(
    `A wait step asks for ${seconds} seconds; [conductor]max_conductor_wait_step_seconds allows ${most}, so it waits for that.`,
    task.node.provision_state ?? 'UNKNOWN',
    'INFO',
  )
  return most
}

/** The step on each child of the node, one after the other. */
async function runOnChildren(task: ConductorTask, flow: StepFlow, step: Step): Promise<Outcome> {
  const only = step.limit_child_node_execution ?? []
  const children = await listNodes(task.db, {
    filters: { parent_node: task.node.uuid ?? '', ...(only.length > 0 ? { uuid_in: only } : {}) },
    fields: ['id'],
  })
  for (const { id } of children) {
    await task.tasks.exclusive(task.context, id, `${flow.phase} step for the parent`, (child) =>
      runOnChild(child, flow, step),
    )
  }
  return 'done'
}

async function runOnChild(child: ConductorTask, flow: StepFlow, step: Step): Promise<void> {
  const power = powerSteps[step.step as ReservedStep]
  if (power !== undefined) return powerAction(child, power)
  if (isReserved(step)) throw new InvalidParameterValue(`The step ${step.step} cannot be run on child nodes.`)
  const result = await child.driver[step.interface].executeStep(flow.phase, child, step)
  if (result === 'wait' && !child.config.conductor.permit_child_node_step_async_result) {
    throw new InvalidParameterValue(
      `Step ${stepId(step)} goes on by itself on child node ${child.node.uuid}; that is allowed only with [conductor]permit_child_node_step_async_result.`,
    )
  }
}
