import {
  type BootEnabled,
  type BootMode,
  bootOf,
  type BootTarget,
  setBoot,
  type SystemResource,
} from '../../lib/redfish/computer-system.ts'
import { BmcRefused, RedfishProblem } from '../../lib/redfish/problems.ts'
import { dropInternal, internal, setInternal } from '../agent/internal-info.ts'
import type { Task } from '../task.ts'
import { quirksOf } from './quirks.ts'

/** Boot devices and what Redfish calls them. */
export const bootTargets: Readonly<Record<string, BootTarget>> = {
  pxe: 'Pxe',
  disk: 'Hdd',
  cdrom: 'Cd',
  bios: 'BiosSetup',
  uefihttp: 'UefiHttp',
}

/** Words under which earlier releases stored a device to restore. */
const formerNames: Readonly<Record<string, string>> = { hdd: 'disk', cd: 'cdrom', 'bios setup': 'bios' }

export const bootDeviceOf = (target: string | undefined): string | null =>
  Object.keys(bootTargets).find((device) => bootTargets[device] === target) ?? null

export const persistence: Readonly<Record<string, boolean>> = { Continuous: true, Once: false }

/** HPE: boot settings cannot be changed while the machine is in its power-on self-test. */
const duringPost = (error: unknown): boolean =>
  error instanceof BmcRefused && error.says('UnableToModifyDuringSystemPOST')

/**
 * Sets the device to boot from. A BMC that refuses `Continuous` gets `Once`, and the device is set again before every start that
 * this service does (`driver_internal_info.redfish_boot_device`).
 */
export async function writeBootDevice(
  task: Task,
  system: SystemResource,
  device: string,
  persistent: boolean,
  httpBootUri: string | null = null,
): Promise<void> {
  const quirk = quirksOf(task.node.properties?.['vendor'])
  const boot = await bootOf(system)
  const wanted: BootEnabled = persistent ? 'Continuous' : 'Once'
  const whole = quirk.wantsWholeBootRequest === true
  const enabled =
    whole || quirk.wantsBootEnabled === true || boot.BootSourceOverrideEnabled !== wanted ? wanted : undefined
  const mode: BootMode | undefined = whole ? (boot.BootSourceOverrideMode ?? 'UEFI') : undefined
  const target = targetFor(device, system)
  try {
    await retryingInPost(task, () => setBoot(system, { target, enabled, mode, httpBootUri }))
  } catch (error) {
    if (!(error instanceof RedfishProblem) || enabled !== 'Continuous') throw error
    await setBoot(await system.refresh(), { target, enabled: 'Once', mode, httpBootUri })
    task.log.warning(
      `The BMC of node ${task.node.uuid} does not keep ${device} as its boot device; it is set anew before every start`,
      { error },
    )
    setInternal(task.node, { redfish_boot_device: device })
    await task.save()
  }
}

/** Sets the device again that a BMC could not keep. A failure is told in the log: the machine has a boot order of its own. */
export async function restoreBootDevice(task: Task, system: SystemResource): Promise<void> {
  const stored = internal(task.node, 'redfish_boot_device')
  if (typeof stored !== 'string' || stored === '') return
  const name = stored.toLowerCase()
  const device = formerNames[name] ?? name
  if (bootTargets[device] === undefined) {
    task.log.warning(`Node ${task.node.uuid} has an unknown boot device to restore: ${stored}`)
    dropInternal(task.node, 'redfish_boot_device')
    await task.save()
    return
  }
  try {
    await writeBootDevice(task, system, device, false)
  } catch (error) {
    if (!(error instanceof RedfishProblem)) throw error
    task.log.warning(
      `The boot device ${device} of node ${task.node.uuid} could not be set again; its own boot order decides`,
      { error },
    )
  }
}

function targetFor(device: string, system: SystemResource): BootTarget {
  const target = bootTargets[device]!
  const substitute = quirksOf(system.data.Manufacturer).cdBootsAs
  const offered = system.data.Boot?.['BootSourceOverrideTarget@Redfish.AllowableValues'] ?? []
  return target === 'Cd' && substitute !== undefined && offered.includes(substitute) ? substitute : target
}

async function retryingInPost(task: Task, work: () => Promise<void>): Promise<void> {
  const { post_boot_retry_attempts: attempts, post_boot_retry_delay: delay } = task.config.redfish
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!duringPost(error) || attempt >= attempts) throw error
      const seconds = Math.min(Math.max(2 ** (attempt - 1), delay), delay * 6)
      task.log.warning(
        `Node ${task.node.uuid} is in its power-on self-test; its boot device is set again in ${seconds} s`,
        { error },
      )
      await task.clock.sleep(seconds * 1000, task.signal)
    }
  }
}
