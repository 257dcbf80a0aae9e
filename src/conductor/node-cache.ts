/** What the BMC says of itself and the row keeps: vendor, boot mode, secure boot, health, BIOS settings, firmware. */
import { cacheBootMode } from '../drivers/boot-mode.ts'
import { UnsupportedDriverExtension } from '../errors/driver.ts'
import { IronicError } from '../errors/define.ts'
import { NodeLocked } from '../errors/node.ts'
import type { ConductorTask } from './conductor-task.ts'

const notSupported = Symbol('the driver has no such thing')
type Answer<T> = T | typeof notSupported | undefined

/** Asks the driver. Not supported is an answer; another failure is a warning and no reason to fail what goes on around it. */
async function ask<T>(task: ConductorTask, what: string, question: () => Promise<T>): Promise<Answer<T>> {
  try {
    return await question()
  } catch (error) {
    if (error instanceof UnsupportedDriverExtension) return notSupported
    // losing the lock is the caller's business
    if (error instanceof NodeLocked) throw error
    const detail = error instanceof IronicError ? {} : { error }
    task.log.warning(`${what} of node ${task.node.uuid} could not be read: ${String(error)}`, detail)
    return undefined
  }
}

export async function cacheVendor(task: ConductorTask): Promise<void> {
  if (task.node.properties?.['vendor']) return
  const vendor = await ask(task, 'The vendor', () => task.driver.management.detectVendor(task))
  if (typeof vendor !== 'string' || vendor === '') return
  await task.upgradeLock('caching node vendor')
  task.node.properties = { ...task.node.properties, vendor }
  await task.save()
}

export async function cacheHealth(task: ConductorTask): Promise<void> {
  if (!task.config.conductor.enable_health_monitoring) return
  const health = await ask(task, 'The health', () => task.driver.management.getNodeHealth(task))
  if (health === undefined || health === notSupported || health === task.node.health) return
  if (health !== null && !['OK', 'Warning', 'Critical'].includes(health)) {
    task.log.warning(`Node ${task.node.uuid} reports a health that nobody knows: ${health}`)
    return
  }
  await task.upgradeLock('caching health')
  const before = task.node.health
  task.node.health = health
  await task.save()
  await task.addHistory(`The health of node ${task.node.uuid} went from ${before} to ${health}.`, 'monitoring', 'INFO')
}

async function cacheBios(task: ConductorTask): Promise<void> {
  await ask(task, 'The BIOS settings', () => task.driver.bios.cacheBiosSettings(task))
}

export async function cacheFirmware(task: ConductorTask): Promise<void> {
  await ask(task, 'The firmware components', async () => {
    await task.driver.firmware.validate(task)
    await task.driver.firmware.cacheFirmwareComponents(task)
  })
}

/** All of it: before and after the flows that may change it. */
export async function updateCache(task: ConductorTask): Promise<void> {
  await cacheVendor(task)
  await cacheBootMode(task)
  await cacheBios(task)
  await cacheFirmware(task)
}
