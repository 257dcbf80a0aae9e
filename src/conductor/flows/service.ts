import { setInternal } from '../../domain/internal-info.ts'
import type { UserStep } from '../../domain/step-list.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { updateCache } from '../node-cache.ts'
import { messageOf } from '../power-action.ts'
import { checkStoredSteps, storedSteps } from '../steps.ts'
import { failStepFlow } from './fail.ts'
import { wipeLeftovers } from './leftovers.ts'
import { runSteps } from './run.ts'
import { recordFlow } from './step-history.ts'
import { serviceFlow } from './step-flows.ts'

/** Services a node in `servicing`: an active machine whose instance stays. */
export async function serviceNode(
  task: ConductorTask,
  steps: readonly UserStep[],
  disableRamdisk: boolean,
): Promise<void> {
  const { node } = task
  const fail = (message: string, cause: unknown, tearDown = true) =>
    failStepFlow(task, serviceFlow, { message, cause, tearDown })
  try {
    await task.driver.deploy.switchInterface(task)
  } catch (error) {
    return fail(`No deploy interface fits node ${node.uuid} for servicing: ${messageOf(error)}`, error, false)
  }
  try {
    await task.driver.power.validate(task)
    if (!disableRamdisk) await task.driver.network.validate(task)
  } catch (error) {
    return fail(`Node ${node.uuid} is not ready for servicing: ${messageOf(error)}`, error)
  }
  await wipeLeftovers(task, 'service')
  setInternal(node, 'service_steps', steps)
  setInternal(node, 'service_disable_ramdisk', disableRamdisk)
  await task.save()
  await updateCache(task)
  try {
    const needsRamdisk = await needsAgent(task, disableRamdisk)
    await recordFlow(task, serviceFlow, storedSteps(task, 'service'), 'start')
    if (needsRamdisk && !disableRamdisk) {
      if ((await task.driver.deploy.prepareService(task)) === 'wait') return await task.fire('wait')
    } else {
      setInternal(node, 'service_disable_ramdisk', true)
      await task.save()
    }
  } catch (error) {
    return fail(`Node ${node.uuid} cannot be serviced: ${messageOf(error)}`, error)
  }
  await runSteps(task, serviceFlow, storedSteps(task, 'service').length > 0 ? 0 : null)
}

/** Does one of the steps need the agent: says so, or is known to nobody else? */
async function needsAgent(task: ConductorTask, disableRamdisk: boolean): Promise<boolean> {
  try {
    await checkStoredSteps(task, 'service', { disableRamdisk })
  } catch (error) {
    if (!(error instanceof InvalidParameterValue) || disableRamdisk) throw error
    task.log.debug(
      `The service steps of node ${task.node.uuid} are checked again once its ramdisk runs: ${error.message}`,
    )
    return true
  }
  return storedSteps(task, 'service').some((step) => step.requires_ramdisk === true)
}
