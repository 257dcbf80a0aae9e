/** How the flows of steps end well. */
import { storedSteps } from '../steps.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { internalInfo } from '../../domain/internal-info.ts'
import { updateCache } from '../node-cache.ts'
import { messageOf } from '../power-action.ts'
import { restoreConsole } from './console.ts'
import { failStepFlow } from './fail.ts'
import { wipeLeftovers } from './leftovers.ts'
import { recordFlow } from './step-history.ts'
import { cleanFlow, deployFlow, isManualClean, type StepFlow } from './step-flows.ts'

export async function finishFlow(task: ConductorTask, flow: StepFlow): Promise<void> {
  const { node } = task
  const steps = storedSteps(task, flow.phase)
  const withRamdisk = flow.withoutRamdisk !== null && internalInfo(node)[flow.withoutRamdisk] !== true
  if (withRamdisk && task.config.agent.deploy_logs_collect === 'always') {
    await task.driver.deploy.collectLogs(task, flow.logLabel)
  }
  node[flow.stepField] = null
  await wipeLeftovers(task, flow.phase)
  if (flow === deployFlow) {
    await recordFlow(task, flow, steps, 'end')
    await restoreConsole(task)
    await task.fire('done')
    return
  }
  if (withRamdisk) {
    await task.save()
    try {
      await flow.tearDown(task)
    } catch (error) {
      await failStepFlow(task, flow, {
        message: `Node ${node.uuid} could not be taken out of ${flow.called}: ${messageOf(error)}`,
        cause: error,
        tearDown: false,
      })
      return
    }
  }
  await updateCache(task)
  await recordFlow(task, flow, steps, 'end')
  await task.driver.deploy.restoreInterface(task)
  const stays = flow === cleanFlow && (isManualClean(task) || node.retired === true)
  await task.fire(stays ? 'manage' : 'done')
}
