import { InvalidParameterValue } from '../../errors/base.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf, powerAction, settledState } from '../power-action.ts'
import { background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

const soft: readonly string[] = ['soft rebooting', 'soft power off']

export const powerMethods = (
  parts: ServiceParts,
): Methods<'change_node_power_state' | 'change_node_boot_mode' | 'change_node_secure_boot'> => ({
  change_node_power_state: (context, { node_id, new_state, timeout }) =>
    parts.tasks.background(context, node_id, 'power change', async (task) => {
      const { node, driver, config } = task
      await driver.power.validate(task)
      const supported = driver.power.supportedPowerStates(task)
      if (!supported.includes(new_state)) {
        throw new InvalidParameterValue(
          `The driver ${node.driver} cannot bring node ${node.uuid} to the power state ${new_state}; it can: ${supported.join(', ')}.`,
        )
      }
      const wait = soft.includes(new_state) ? (timeout ?? config.conductor.soft_power_off_timeout) : (timeout ?? null)
      node.target_power_state = settledState(new_state)
      node.last_error = null
      await task.save()
      return background(() => powerUnlessRefused(task, new_state, wait))
    }),

  change_node_boot_mode: (context, { node_id, new_state }) =>
    parts.tasks.background(context, node_id, 'boot mode change', async (task) => {
      await forgetError(task)
      return background(() => changeBootMode(task, new_state))
    }),

  change_node_secure_boot: (context, { node_id, new_state }) =>
    parts.tasks.background(context, node_id, 'secure boot change', async (task) => {
      await forgetError(task)
      return background(() => changeSecureBoot(task, new_state))
    }),
})

async function forgetError(task: ConductorTask): Promise<void> {
  await task.driver.management.validate(task)
  task.node.last_error = null
  await task.save()
}

/** A change that is refused before anything was done must not leave its target in the row. */
async function powerUnlessRefused(task: ConductorTask, target: string, timeout: number | null): Promise<void> {
  try {
    await powerAction(task, target, timeout)
  } catch (error) {
    if (task.node.target_power_state !== null) {
      task.node.target_power_state = null
      task.node.last_error ??= messageOf(error)
      await task.save()
    }
    throw error
  }
}

async function changeBootMode(task: ConductorTask, wanted: string): Promise<void> {
  const { node, driver } = task
  const current = await currentOf(task, 'boot mode', () => driver.management.getBootMode(task))
  if (current === wanted) return
  try {
    await driver.management.setBootMode(task, wanted)
  } catch (error) {
    return failed(task, `The boot mode of node ${node.uuid} could not be set to ${wanted}: ${messageOf(error)}`, error)
  }
  node.boot_mode = wanted
  await task.save()
}

async function changeSecureBoot(task: ConductorTask, wanted: boolean): Promise<void> {
  const { node, driver } = task
  const current = await currentOf(task, 'secure boot state', () => driver.management.getSecureBootState(task))
  if (current === wanted) return
  try {
    await driver.management.setSecureBootState(task, wanted)
  } catch (error) {
    return failed(task, `Secure boot of node ${node.uuid} could not be set to ${wanted}: ${messageOf(error)}`, error)
  }
  node.secure_boot = wanted
  await task.save()
}

/** Undefined when the driver cannot say: then the change is tried anyway. */
async function currentOf<T>(task: ConductorTask, what: string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    task.log.warning(`The ${what} of node ${task.node.uuid} cannot be read before it is changed: ${messageOf(error)}`)
    return undefined
  }
}

async function failed(task: ConductorTask, message: string, error: unknown): Promise<void> {
  task.log.error(message, { error })
  task.node.last_error = message
  await task.save()
}
