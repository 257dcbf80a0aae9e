import { childNodeIds } from '../db/nodes.ts'
import { internalTime, setInternal, wipeOnPowerOff } from '../domain/internal-info.ts'
import { FAILURE_STATES, powerTargets } from '../domain/states.ts'
import { PowerStateFailure } from '../errors/driver.ts'
import { ChildNodeLocked, NodeLocked } from '../errors/node.ts'
import { ParentNodeLocked } from '../errors/general.ts'
import { StorageError } from '../errors/image.ts'
import type { ConductorTask } from './conductor-task.ts'

/** Changes that end the agent's session on the node. */
const endsSession: readonly string[] = ['power off', 'soft power off', 'rebooting', 'soft rebooting']
/** Changes that need not be made when the node is there already. */
const skippable: readonly string[] = ['power on', 'power off', 'soft power off']

/** The state that a power target ends in; null for a name that is none. */
export const settledState = (target: string): string | null =>
  Object.hasOwn(powerTargets, target) ? powerTargets[target as keyof typeof powerTargets] : null

/**
 * Changes the power of the node and waits for it. The row always tells the truth: `target_power_state` while the change runs,
 * then the state reached, or the old one with `last_error`.
 * @param timeoutSeconds given to the driver; null: its own
 */
export async function powerAction(
  task: ConductorTask,
  target: string,
  timeoutSeconds: number | null = null,
): Promise<void> {
  const { node } = task
  const settled = settledState(target)
  notifyPower(task, 'start', target)
  if (settled === 'power off' && node.disable_power_off === true) {
    task.log.error(`Node ${node.uuid} must not be powered off: its disable_power_off is set`)
    throw new PowerStateFailure(`Node ${node.uuid} must not be powered off: its disable_power_off is set.`)
  }
  if (await isThereAlready(task, target)) {
    if (endsSession.includes(target)) wipeOnPowerOff(node)
    return task.save()
  }
  node.target_power_state = settled
  // a fail state keeps what failed; powering the node is how one looks into it
  if (!FAILURE_STATES.has(node.provision_state)) node.last_error = null
  setInternal(node, 'last_power_state_change', internalTime(task.clock.now()))
  if (endsSession.includes(target)) wipeOnPowerOff(node)
  await task.save()
  try {
    await changePower(task, target, settled, timeoutSeconds)
  } catch (error) {
    node.target_power_state = null
    await task.addHistory(`Cannot change the power of node ${node.uuid} to ${target}: ${messageOf(error)}`, 'UNKNOWN')
    await task.save()
    notifyPower(task, 'error', target)
    throw error
  }
  node.power_state = settled
  node.target_power_state = null
  await task.save()
  await tellNova(task)
  notifyPower(task, 'end', target)
  task.log.info(`Node ${node.uuid} is now in the power state ${settled} by ${target}`)
  if (settled === 'power off' && node.provision_state === 'active') await detachVolumes(task)
}

async function changePower(
  task: ConductorTask,
  target: string,
  settled: string | null,
  timeout: number | null,
): Promise<void> {
  const { node, driver } = task
  if (settled === 'power on' && node.provision_state === 'active') await driver.storage.attachVolumes(task)
  if (target === 'rebooting') return driver.power.reboot(task, { timeout })
  if (target === 'power on') await powerOnParent(task, timeout)
  if (target === 'power off') await powerOffChildren(task, timeout)
  return driver.power.setPowerState(task, target, { timeout })
}

/** The node is where it should go: the row is brought in step, and nothing is done. */
async function isThereAlready(task: ConductorTask, target: string): Promise<boolean> {
  if (!skippable.includes(target)) return false
  const { node } = task
  let current: string | null
  try {
    current = await task.driver.power.getPowerState(task)
  } catch (error) {
    node.target_power_state = null
    await task.addHistory(
      `Cannot read the power state of node ${node.uuid} before ${target}: ${messageOf(error)}`,
      'UNKNOWN',
    )
    await task.save()
    notifyPower(task, 'error', target)
    throw error
  }
  if (current === null || current !== settledState(target)) return false
  node.last_error = null
  node.power_state = current
  node.target_power_state = null
  notifyPower(task, 'end', target)
  return true
}

async function detachVolumes(task: ConductorTask): Promise<void> {
  try {
    await task.driver.storage.detachVolumes(task)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    task.log.warning(`The volumes of node ${task.node.uuid} could not be detached: ${error.message}`)
  }
}

/** A child without a power supply of its own needs its parent on. */
async function powerOnParent(task: ConductorTask, timeout: number | null): Promise<void> {
  const { node } = task
  if (node.parent_node === null || Boolean(node.driver_info?.['has_dedicated_power_supply'])) return
  const parent = node.parent_node
  await task.tasks.shared(task.context, parent, 'powering on for a child', async (other) => {
    if ((await other.driver.power.getPowerState(other)) === 'power on') return
    try {
      await other.upgradeLock()
    } catch (error) {
      if (error instanceof NodeLocked) throw new ParentNodeLocked({ node: node.uuid, parent }, { cause: error })
      throw error
    }
    await powerAction(other, 'power on', timeout)
  })
}

/** Children that live on the node's power go off first; all are locked before the first is touched. */
async function powerOffChildren(task: ConductorTask, timeout: number | null): Promise<void> {
  const children = await childNodeIds(task.db, task.node.uuid ?? '', { excludeDedicatedPower: true })
  if (children.length > 0) await powerOffTogether(task, children, [], timeout)
}

async function powerOffTogether(
  parent: ConductorTask,
  waiting: readonly number[],
  held: readonly ConductorTask[],
  timeout: number | null,
): Promise<void> {
  const [next, ...rest] = waiting
  if (next === undefined) {
    for (const child of held) await powerAction(child, 'power off', timeout)
    return
  }
  await parent.tasks.shared(parent.context, next, 'powering off with the parent', async (child) => {
    const on = (await child.driver.power.getPowerState(child)) !== 'power off'
    try {
      if (on) await child.upgradeLock()
    } catch (error) {
      if (error instanceof NodeLocked) {
        throw new ChildNodeLocked({ node: parent.node.uuid, child: child.node.uuid }, { cause: error })
      }
      throw error
    }
    await powerOffTogether(parent, rest, on ? [...held, child] : held, timeout)
  })
}

function notifyPower(task: ConductorTask, status: 'start' | 'end' | 'error', target: string): void {
  task.emit('node.power_set', status, { to_power: target })
}

/** The power state was found to be another than the row said. */
export async function notifyPowerCorrected(task: ConductorTask, from: string | null): Promise<void> {
  await tellNova(task)
  task.emit('node.power_state_corrected', 'success', { from_power: from })
}

async function tellNova(task: ConductorTask): Promise<void> {
  const { instance_uuid: instance, power_state: state } = task.node
  if (instance !== null) await task.tasks.parts.powerChanged?.(task.context, instance, state)
}

/** Sets the boot device through the management interface, as the node's `force_persistent_boot_device` wants it. */
export async function setBootDevice(task: ConductorTask, device: string, persistent = false): Promise<void> {
  const { management } = task.driver
  await management.validate(task)
  // what an adopted machine boots from is left alone
  if (task.node.provision_state === 'adopting') return
  await management.setBootDevice(
    task,
    device,
    forcedPersistence(task.node.driver_info?.['force_persistent_boot_device']) ?? persistent,
  )
}

function forcedPersistence(value: unknown): boolean | undefined {
  if (value === undefined || value === null || value === 'Default') return undefined
  if (value === 'Always') return true
  if (value === 'Never') return false
  return ['1', 't', 'true', 'on', 'y', 'yes'].includes(String(value).toLowerCase()) ? true : undefined
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
