import { requestedBootMode, secureBootRequested } from '../domain/boot-mode.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { UnsupportedDriverExtension } from '../errors/driver.ts'
import { NodeLocked } from '../errors/node.ts'
import { setInternal } from './agent/internal-info.ts'
import type { Task } from './task.ts'

/** The value, or null from an interface that cannot tell. */
async function ifSupported<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read
  } catch (error) {
    if (error instanceof UnsupportedDriverExtension) return null
    throw error
  }
}

/**
 * Reads boot mode and secure boot from the hardware into the node. A BMC that fails to tell costs a warning only; the exclusive
 * lock is taken when there is something to write.
 */
export async function cacheBootMode(task: Task): Promise<void> {
  const { management } = task.driver
  let read
  try {
    const bootMode = await ifSupported(management.getBootMode(task))
    read = { bootMode, secureBoot: await ifSupported(management.getSecureBootState(task)) }
  } catch (error) {
    // losing the lock is the caller's business
    if (error instanceof NodeLocked) throw error
    task.log.warning(`Boot mode and secure boot of node ${task.node.uuid} cannot be read`, { error })
    return
  }
  if (read.bootMode === task.node.boot_mode && read.secureBoot === task.node.secure_boot) return
  await task.upgradeLock('caching boot mode and secure boot')
  task.node.boot_mode = read.bootMode
  task.node.secure_boot = read.secureBoot
  await task.save()
}

/**
 * Brings the hardware to the boot mode that the node asks for; without a wish, what the hardware has is kept, and hardware that
 * cannot tell gets `[deploy]default_boot_mode`.
 * @throws UnsupportedDriverExtension when the mode differs and cannot be changed; InvalidParameterValue
 */
export async function syncBootMode(task: Task): Promise<void> {
  const { node } = task
  const present = await ifSupported(task.driver.management.getBootMode(task))
  const wanted = requestedBootMode(node)
  if (wanted === undefined) {
    const settled = present ?? task.config.deploy.default_boot_mode
    if (present === null) task.log.info(`Node ${node.uuid} tells no boot mode and asks for none; ${settled} is used`)
    setInternal(node, { deploy_boot_mode: settled })
    await task.save()
    if (present === null) await setBootMode(task, settled, false)
    return
  }
  if (present === wanted) return
  await setBootMode(task, wanted, present !== null)
}

async function setBootMode(task: Task, mode: string, mustWork: boolean): Promise<void> {
  const { node } = task
  if (node.provision_state === 'adopting') return // the running machine of an adopted node is not touched
  try {
    await task.driver.management.validate(task)
    await task.driver.management.setBootMode(task, mode)
  } catch (cause) {
    if (cause instanceof InvalidParameterValue)
      throw new InvalidParameterValue(`Boot mode ${mode} cannot be set on node ${node.uuid}: ${cause.message}`, {
        cause,
      })
    if (!(cause instanceof UnsupportedDriverExtension)) throw cause
    if (mustWork)
      throw new UnsupportedDriverExtension(
        `Node ${node.uuid} is in another boot mode than ${mode}, and its management interface cannot change it; set it by hand.`,
        { cause },
      )
    task.log.warning(`Boot mode ${mode} cannot be set on node ${node.uuid}; it is taken to be right`, { error: cause })
    return
  }
  await cacheBootMode(task)
}

/** Secure boot on, when the instance asks for it. */
export const enableSecureBootIfAsked = (task: Task): Promise<void> => setSecureBootIfAsked(task, true)
/** Secure boot off again, when the instance had asked for it. */
export const disableSecureBootIfAsked = (task: Task): Promise<void> => setSecureBootIfAsked(task, false)

async function setSecureBootIfAsked(task: Task, state: boolean): Promise<void> {
  if (!secureBootRequested(task.node)) return
  try {
    await task.driver.management.setSecureBootState(task, state)
  } catch (error) {
    if (!(error instanceof UnsupportedDriverExtension)) throw error
    if (state)
      task.log.warning(
        `Secure boot is asked for on node ${task.node.uuid}, but management interface ${task.node.management_interface} cannot set it`,
        { error },
      )
    return
  }
  await cacheBootMode(task)
}
