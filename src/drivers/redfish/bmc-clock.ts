import { RedfishError } from '../../errors/driver.ts'
import { managersOf, type ManagerResource, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { BmcRefused, PropertyMissing } from '../../lib/redfish/problems.ts'
import type { Task } from '../task.ts'

/** How far a clock may be off; a second passes while it is set and read. */
const tolerance = { verifyMs: 1000, setMs: 5000 } as const

/** ISO 8601 with an offset and no fraction where the BMC writes none. */
const stamp = (time: Date, withFraction: boolean): string =>
  withFraction ? time.toISOString().replace('Z', '000+00:00') : time.toISOString().replace(/\.\d+Z$/, '+00:00')

const hasFraction = (time: string): boolean => /\.\d*[1-9]/.test(time)

async function managerOf(system: SystemResource): Promise<ManagerResource> {
  const [manager] = await managersOf(system)
  if (manager === undefined) throw new PropertyMissing('Links/ManagedBy', system.path)
  return manager
}

function clockOf(manager: ManagerResource): { text: string; ms: number } {
  const text = manager.need('DateTime')
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new PropertyMissing('DateTime', manager.path)
  return { text, ms }
}

/** Some BMCs refuse an offset that stays as it is; others want none at all. */
async function write(manager: ManagerResource, time: string, offset: string | null): Promise<void> {
  const withOffset = offset !== null && manager.data.DateTimeLocalOffset !== offset
  try {
    await manager.patch({ DateTime: time, ...(withOffset && { DateTimeLocalOffset: offset }) })
  } catch (error) {
    if (!withOffset || !(error instanceof BmcRefused) || !error.words.includes('DateTimeLocalOffset')) throw error
    await manager.patch({ DateTime: time })
  }
}

/**
 * Sets the clock of the BMC.
 * @param target ISO 8601; null: now
 * @throws RedfishError when it shows another time afterwards
 */
export async function setBmcClock(
  task: Task,
  system: SystemResource,
  target: string | null,
  offset: string | null,
): Promise<void> {
  const manager = await managerOf(system)
  const fraction = hasFraction(clockOf(manager).text)
  const wanted = target === null ? task.clock.now() : new Date(target)
  if (Number.isNaN(wanted.getTime())) throw new RedfishError({ error: `target_datetime ${target} is no ISO 8601 time` })
  await write(manager, stamp(wanted, fraction), offset)
  const after = clockOf(await manager.refresh())
  if (Math.abs(after.ms - wanted.getTime()) > tolerance.setMs)
    throw new RedfishError({
      error: `the BMC of node ${task.node.uuid} shows ${after.text} after its clock was set to ${stamp(wanted, fraction)}`,
    })
}

/** Sets the clock when it is off by more than a second. @throws RedfishError when it stays so */
export async function verifyBmcClock(task: Task, system: SystemResource): Promise<void> {
  const manager = await managerOf(system)
  const before = clockOf(manager)
  const now = task.clock.now()
  if (Math.abs(before.ms - now.getTime()) <= tolerance.verifyMs) return
  task.log.info(`The BMC clock of node ${task.node.uuid} shows ${before.text}; it is set`)
  await write(manager, stamp(now, hasFraction(before.text)), '+00:00')
  const after = clockOf(await manager.refresh())
  if (Math.abs(after.ms - task.clock.now().getTime()) > tolerance.setMs)
    throw new RedfishError({
      error: `the BMC clock of node ${task.node.uuid} still shows ${after.text} after it was set`,
    })
}
