import { getRunbook } from '../../db/runbooks.ts'
import { setInternal } from '../../domain/internal-info.ts'
import type { Step } from '../../domain/steps.ts'
import type { UserStep } from '../../domain/step-list.ts'
import { AgentConnectionFailed } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { NodeCleaningFailure } from '../../errors/node.ts'
import type { Node } from '../../objects/index.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { updateCache } from '../node-cache.ts'
import { messageOf } from '../power-action.ts'
import { checkStoredSteps, setAutomatedCleanSteps, storedSteps, storedStepsNeedNoRamdisk } from '../steps.ts'
import { failStepFlow } from './fail.ts'
import { wipeLeftovers } from './leftovers.ts'
import { runSteps } from './run.ts'
import { recordFlow } from './step-history.ts'
import { cleanFlow } from './step-flows.ts'

export interface CleanRequest {
  /** null: automated, with what the driver offers */
  readonly steps: readonly UserStep[] | null
  readonly disableRamdisk: boolean
  /** the steps come from the runbook of automated cleaning, not from a user */
  readonly automated: boolean
}

/** The node's own wish goes before `[conductor]automated_clean`. */
const skipsAutomatedCleaning = (node: Node, stock: boolean): boolean => !(node.automated_clean ?? stock)

/** Cleans a node in `cleaning`. */
export async function cleanNode(task: ConductorTask, request: CleanRequest): Promise<void> {
  const { node, config } = task
  const fail = (message: string, cause?: unknown, tearDown = true) =>
    failStepFlow(task, cleanFlow, { message, cause, tearDown })
  const automated = request.automated || request.steps === null
  if (automated && skipsAutomatedCleaning(node, config.conductor.automated_clean)) {
    node.clean_step = null
    await task.driver.deploy.restoreInterface(task)
    task.log.info(`Node ${node.uuid} is not cleaned: automated cleaning is off for it`)
    return task.fire('done')
  }
  if (!config.conductor.allow_provisioning_in_maintenance && node.maintenance) {
    return fail(
      `Node ${node.uuid} is in maintenance, where [conductor]allow_provisioning_in_maintenance forbids cleaning.`,
      undefined,
      false,
    )
  }
  try {
    await task.driver.deploy.switchInterface(task)
  } catch (error) {
    return fail(`No deploy interface fits node ${node.uuid} for cleaning: ${messageOf(error)}`, error, false)
  }
  try {
    await task.driver.power.validate(task)
    if (!request.disableRamdisk) await task.driver.network.validate(task)
  } catch (error) {
    return fail(`Node ${node.uuid} is not ready for cleaning: ${messageOf(error)}`, error)
  }
  await wipeLeftovers(task, 'clean')
  if (request.steps !== null && request.steps.length > 0) {
    setInternal(node, 'clean_steps', request.steps)
    setInternal(node, 'cleaning_disable_ramdisk', request.disableRamdisk)
    setInternal(node, 'declarative_cleaning', true)
  }
  await task.save()
  await updateCache(task)
  try {
    const { disableRamdisk, checked } = await checkEarly(task, request)
    if (!disableRamdisk && (await prepare(task)) === 'wait') return
    if (!checked) await composeSteps(task, request, disableRamdisk)
  } catch (error) {
    return fail(`Node ${node.uuid} cannot be cleaned: ${messageOf(error)}`, error)
  }
  const steps = storedSteps(task, 'clean')
  await recordFlow(task, cleanFlow, steps, 'start')
  await runSteps(task, cleanFlow, steps.length > 0 ? 0 : null)
}

const composeSteps = (task: ConductorTask, { steps }: CleanRequest, disableRamdisk: boolean): Promise<void> =>
  steps === null || steps.length === 0
    ? setAutomatedCleanSteps(task)
    : checkStoredSteps(task, 'clean', { disableRamdisk })

/** Steps that all run from outside need no agent; those that only the agent knows can be checked once it is there. */
async function checkEarly(
  task: ConductorTask,
  { steps, disableRamdisk }: CleanRequest,
): Promise<{ disableRamdisk: boolean; checked: boolean }> {
  if (steps === null || steps.length === 0 || disableRamdisk) return { disableRamdisk, checked: false }
  try {
    await checkStoredSteps(task, 'clean')
  } catch (error) {
    if (!(error instanceof InvalidParameterValue)) throw error
    task.log.debug(
      `The clean steps of node ${task.node.uuid} are checked again once its ramdisk runs: ${error.message}`,
    )
    return { disableRamdisk, checked: false }
  }
  if (storedSteps(task, 'clean').length === 0 || !(await storedStepsNeedNoRamdisk(task))) {
    return { disableRamdisk, checked: true }
  }
  setInternal(task.node, 'cleaning_disable_ramdisk', true)
  await task.save()
  return { disableRamdisk: true, checked: true }
}

/** Boots the ramdisk. @returns `wait`: it is on its way */
async function prepare(task: ConductorTask): Promise<'wait' | void> {
  const wait = async () => {
    await task.fire('wait', { targetState: cleanFlow.target(task) })
    return 'wait' as const
  }
  try {
    if ((await task.driver.deploy.prepareCleaning(task)) === 'wait') return await wait()
  } catch (error) {
    // fast track: the agent that was said to run is not up yet
    if (error instanceof AgentConnectionFailed) return wait()
    throw error
  }
}

/**
 * Steps of automated cleaning: of the driver (null), or of the runbook that the configuration or the node names.
 * @throws NodeCleaningFailure when a runbook is needed and there is none that fits
 */
export async function automatedCleanSteps(task: ConductorTask): Promise<CleanRequest> {
  const { node, config } = task
  const {
    automated_cleaning_step_source: source,
    automated_cleaning_runbook: stock,
    automated_cleaning_runbook_by_resource_class: byClass,
    automated_cleaning_runbook_from_node: fromNode,
    automated_cleaning_runbook_validate_traits: checkTraits,
  } = config.conductor
  const byDriver: CleanRequest = { steps: null, disableRamdisk: false, automated: false }
  if (source === 'autogenerated') return byDriver
  const own: unknown = fromNode ? node.driver_info?.['cleaning_runbook'] : undefined
  const named = (typeof own === 'string' ? own : undefined) ?? byClass[node.resource_class ?? ''] ?? stock
  if (named === null || named === undefined || named === '') {
    if (source === 'hybrid') return byDriver
    throw new NodeCleaningFailure({
      node: node.uuid,
      reason: 'automated cleaning needs a runbook, and none is configured',
    })
  }
  const runbook = await getRunbook(task.db, named)
  if (checkTraits) {
    const traits = await task.traits()
    const wanted = runbook.traits ?? []
    if (!wanted.some((trait) => traits.includes(trait))) {
      throw new NodeCleaningFailure({
        node: node.uuid,
        reason: `it has none of the traits of runbook ${runbook.name} (${wanted.join(', ') || 'which has none'})`,
      })
    }
  }
  const steps = runbook.steps as unknown as (Step & { order?: number })[]
  return {
    steps: steps.map(({ interface: type, step, args, order }): UserStep => ({
      interface: type,
      step,
      ...(args === undefined ? {} : { args }),
      ...(order === undefined ? {} : { order }),
    })),
    disableRamdisk: runbook.disable_ramdisk ?? false,
    automated: true,
  }
}
