import { InvalidParameterValue } from '../../errors/base.ts'
import { managersOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { ActionMissing, BmcRefused, RedfishProblem } from '../../lib/redfish/problems.ts'
import { VirtualMedia } from '../../lib/redfish/resources.ts'
import {
  ejectMedia,
  type Insertion,
  insertMedia,
  type MediaSlot,
  type MediaType,
} from '../../lib/redfish/virtual-media.ts'
import type { Task } from '../task.ts'

/** Virtual media devices of the API and what Redfish calls them. */
export const mediaTypes: Readonly<Record<string, MediaType>> = { cdrom: 'CD', floppy: 'Floppy', disk: 'USBStick' }

/** A BMC that fails at virtual media (5xx) is asked again. */
const serverFaults = { attempts: 3, pauseMs: 3000 } as const
/** How long a slot that is said to be empty right after inserting is watched when nobody asked for watching. */
const glanceMs = 6000

/** Which of the slots may be used at all; some BMCs boot from one only. */
export type SlotRule = (slot: MediaSlot) => boolean

/** A CD also fits a slot that says DVD only. */
export const takes = (slot: MediaSlot, media: MediaType): boolean => {
  const types = slot.data.MediaTypes ?? []
  return types.includes(media) || (media === 'CD' && types.includes('DVD'))
}

/**
 * The virtual media slots of a system: its own, and those of its managers when it has none. `everywhere` lists both: a medium
 * may have been put in by another way.
 */
export async function slotsOf(system: SystemResource, { everywhere = false } = {}): Promise<MediaSlot[]> {
  const own = await system.bmc.membersIfAny(VirtualMedia, system.data.VirtualMedia)
  if (own.length > 0 && !everywhere) return own
  const seen = new Set(own.map((slot) => slot.path))
  const slots = [...own]
  for (const manager of await managersOf(system)) {
    for (const slot of await system.bmc.membersIfAny(VirtualMedia, manager.data.VirtualMedia)) {
      if (!seen.has(slot.path)) slots.push(slot)
      seen.add(slot.path)
    }
  }
  return slots
}

/**
 * Inserts an image into the first slot that takes it; what is in that slot is taken out before.
 * @throws InvalidParameterValue with the reason of every slot that was passed over
 */
export async function insertInto(
  task: Task,
  system: SystemResource,
  media: MediaType,
  insertion: Insertion,
  allowed: SlotRule = () => true,
): Promise<void> {
  const passedOver: string[] = []
  for (let attempt = 1; ; attempt++) {
    const slots = await slotsOf(system)
    const fitting = slots.filter((slot) => takes(slot, media) && allowed(slot))
    if (fitting.length === 0)
      throw new InvalidParameterValue(
        `The BMC of node ${task.node.uuid} has no virtual media slot for ${media}` +
          ` (it has ${slots.map((slot) => `${slot.id}: ${(slot.data.MediaTypes ?? []).join('/') || 'no type'}`).join(', ') || 'none at all'}).`,
      )
    let failing = false
    for (const slot of fitting) {
      const reason = await tryInsert(task, slot, insertion)
      if (reason === null) return
      const text = `${slot.path}: ${reason.message}`
      if (!passedOver.includes(text)) passedOver.push(text)
      failing ||= reason instanceof BmcRefused && reason.isServerSide
    }
    if (!failing || attempt === serverFaults.attempts)
      throw new InvalidParameterValue(
        `The image ${insertion.image} cannot be inserted as ${media} into node ${task.node.uuid}: ${passedOver.join('; ')}`,
      )
    await task.clock.sleep(serverFaults.pauseMs, task.signal)
  }
}

/** Null when it is in; else why this slot is no use. Other failures are thrown. */
async function tryInsert(task: Task, slot: MediaSlot, insertion: Insertion): Promise<RedfishProblem | null> {
  try {
    if (slot.data.Inserted === true) await emptySlot(task, slot)
    await insertMedia(slot, insertion)
    await watchInserted(task, slot)
    return null
  } catch (error) {
    if (error instanceof ActionMissing) return error
    if (error instanceof BmcRefused && (error.status === 400 || error.status === 405 || error.isServerSide)) {
      task.log.warning(`Virtual media slot ${slot.path} of node ${task.node.uuid} does not take the image`, { error })
      return error
    }
    throw error
  }
}

/** Takes the medium out and waits until the slot is seen empty: BMCs go on naming the old image for a while. */
async function emptySlot(task: Task, slot: MediaSlot): Promise<void> {
  try {
    await ejectMedia(slot)
  } catch (error) {
    if (!(error instanceof RedfishProblem)) throw error
    task.log.warning(`The medium in ${slot.path} of node ${task.node.uuid} could not be taken out`, { error })
    return
  }
  const { vmedia_insert_timeout: timeout } = task.config.redfish
  if (!(await becomes(task, slot, (inserted) => inserted !== true, timeout * 1000)))
    task.log.warning(
      `The slot ${slot.path} of node ${task.node.uuid} still names a medium ${timeout} s after it was taken out`,
    )
}

/** Looks whether the medium is in. With `enable_vmedia_insert_polling` it must be; else a BMC that says no is only warned of. */
async function watchInserted(task: Task, slot: MediaSlot): Promise<void> {
  const { enable_vmedia_insert_polling: mustBeIn, vmedia_insert_timeout: timeout } = task.config.redfish
  const seen = await becomes(
    task,
    slot,
    (inserted) => (mustBeIn ? inserted === true : inserted !== false),
    mustBeIn ? timeout * 1000 : glanceMs,
  )
  if (seen) return
  if (mustBeIn) throw new RedfishProblem(`${slot.path} does not show the medium within ${timeout} s`)
  task.log.warning(`The slot ${slot.path} of node ${task.node.uuid} took an image but says that nothing is inserted`)
}

async function becomes(
  task: Task,
  slot: MediaSlot,
  wanted: (inserted: boolean | undefined) => boolean,
  limitMs: number,
): Promise<boolean> {
  const deadline = task.clock.now().getTime() + limitMs
  const pause = task.config.redfish.vmedia_insert_poll_interval * 1000
  for (;;) {
    if (wanted((await slot.refresh()).data.Inserted)) return true
    if (task.clock.now().getTime() + pause > deadline) return false
    await task.clock.sleep(pause, task.signal)
  }
}

/** Takes out what is inserted, of one kind or of all. Gives whether there was anything. */
export async function ejectFrom(task: Task, system: SystemResource, media: MediaType | null): Promise<boolean> {
  let found = false
  for (const slot of await slotsOf(system, { everywhere: true })) {
    if (slot.data.Inserted !== true || (media !== null && !takes(slot, media))) continue
    await retryingServerFaults(task, () => ejectMedia(slot))
    found = true
  }
  return found
}

export async function retryingServerFaults<T>(task: Task, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof BmcRefused) || !error.isServerSide || attempt === serverFaults.attempts) throw error
      await task.clock.sleep(serverFaults.pauseMs, task.signal)
    }
  }
}
