import { stepId } from '../../domain/step-list.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { updateCache } from '../node-cache.ts'
import { messageOf, notifyPowerCorrected } from '../power-action.ts'
import { driverSteps } from '../steps.ts'

/** Verifies a node in `verifying`: the BMC answers, and the verify steps of its interfaces run. */
export async function verifyNode(task: ConductorTask): Promise<void> {
  const { node } = task
  let powerState: string | null
  try {
    powerState = await verify(task)
  } catch (error) {
    const message = `Node ${node.uuid} could not be verified: ${messageOf(error)}`
    task.log.error(message, { error })
    await task.addHistory(message, 'verify')
    return task.fire('fail')
  }
  await updateCache(task)
  const before = node.power_state
  node.power_state = powerState
  await task.fire('done')
  if (powerState !== before) await notifyPowerCorrected(task, before)
}

async function verify(task: ConductorTask): Promise<string | null> {
  await named('its power interface is not set up', () => task.driver.power.validate(task))
  const state = await named('its power state cannot be read', () => task.driver.power.getPowerState(task))
  for (const step of await driverSteps(task, 'verify', { enabledOnly: true, sorted: true })) {
    await named(`verify step ${stepId(step)} failed`, () =>
      task.driver[step.interface].executeStep('verify', task, step),
    )
  }
  return state
}

/** Puts before an error what was being done. */
async function named<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error })
  }
}
