import { RedfishError, UnsupportedDriverExtension } from '../../errors/driver.ts'
import { type BootMode, bootOf, setBoot, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { BmcRefused, PropertyMissing, RedfishProblem } from '../../lib/redfish/problems.ts'
import { SecureBoot } from '../../lib/redfish/resources.ts'
import type { Resource } from '../../lib/redfish/bmc.ts'
import type { Task } from '../task.ts'
import { quirksOf } from './quirks.ts'

export const bootModes: Readonly<Record<string, BootMode>> = { uefi: 'UEFI', bios: 'Legacy' }

export const bootModeNamed = (mode: BootMode | undefined): string | null =>
  Object.keys(bootModes).find((name) => bootModes[name] === mode) ?? null

/** How often a setting that needs a restart is looked at. */
const lookIntervalMs = 15_000

/**
 * Sets the boot mode; BMCs that apply it by a BIOS job get a restart, and the node its former power state afterwards.
 * @throws UnsupportedDriverExtension when the BMC neither tells nor takes it, so that a deploy may go on; RedfishError on time-out
 */
export async function changeBootMode(task: Task, system: SystemResource, mode: string): Promise<void> {
  const wanted = bootModes[mode]!
  const boot = await bootOf(system)
  const untold = boot.BootSourceOverrideMode === undefined
  try {
    if (quirksOf(task.node.properties?.['vendor']).wantsWholeBootRequest === true) {
      const target = (boot.BootSourceOverrideTarget ?? 'Pxe') as 'Pxe'
      await setBoot(system, { mode: wanted, enabled: boot.BootSourceOverrideEnabled ?? 'Once', target })
    } else await setBoot(system, { mode: wanted })
  } catch (cause) {
    if (!(cause instanceof RedfishProblem) || !untold) throw cause
    throw new UnsupportedDriverExtension({ driver: task.node.driver, extension: 'set_boot_mode' }, { cause })
  }
  if (untold) {
    task.log.warning(`Node ${task.node.uuid} took boot mode ${mode} but does not tell its mode; it is taken to be set`)
    return
  }
  const isSet = async () => (await bootOf(await system.refresh())).BootSourceOverrideMode === wanted
  await restartUntil(task, `boot mode ${mode}`, isSet)
}

type SecureBootResource = Resource<typeof SecureBoot.shape>

/** @throws UnsupportedDriverExtension without such a resource */
export async function secureBootOf(task: Task, system: SystemResource, extension: string): Promise<SecureBootResource> {
  const found = await system.bmc.find(SecureBoot, system.data.SecureBoot)
  if (found === null) throw new UnsupportedDriverExtension({ driver: task.node.driver, extension })
  return found
}

/** Is secure boot on? Null when the BMC does not tell, as without the licence for it. */
export async function readSecureBoot(task: Task, system: SystemResource): Promise<boolean | null> {
  try {
    return (await secureBootOf(task, system, 'get_secure_boot_state')).data.SecureBootEnable ?? null
  } catch (error) {
    if (error instanceof BmcRefused && error.words.includes('OemLicenseNotPassed')) return null
    throw error
  }
}

export async function changeSecureBoot(task: Task, system: SystemResource, state: boolean): Promise<void> {
  const secureBoot = await secureBootOf(task, system, 'set_secure_boot_state')
  if (secureBoot.data.SecureBootEnable === state) return
  if ((await bootOf(system)).BootSourceOverrideMode === 'Legacy')
    throw new RedfishError({ error: `secure boot needs boot mode uefi, and node ${task.node.uuid} is in bios` })
  await secureBoot.patch({ SecureBootEnable: state })
  const isSet = async () => {
    try {
      return (await secureBoot.refresh()).data.SecureBootEnable === state
    } catch (error) {
      if (error instanceof BmcRefused && error.isServerSide) return false
      throw error
    }
  }
  await restartUntil(task, `secure boot ${state ? 'on' : 'off'}`, isSet)
}

/** `SecureBoot.ResetKeys`. @throws PropertyMissing when the BMC lists other types only */
export async function resetSecureBootKeys(task: Task, system: SystemResource, type: string): Promise<void> {
  const secureBoot = await secureBootOf(task, system, 'reset_keys')
  const allowed = secureBoot.action('#SecureBoot.ResetKeys')?.allowable['ResetKeysType'] ?? []
  if (allowed.length > 0 && !allowed.includes(type)) throw new PropertyMissing(`ResetKeysType ${type}`, secureBoot.path)
  await secureBoot.act('#SecureBoot.ResetKeys', { ResetKeysType: type })
}

/** Looks; restarts the machine when the setting has not taken hold, looks until it has, and puts the power back. */
async function restartUntil(task: Task, what: string, isSet: () => Promise<boolean>): Promise<void> {
  if (await isSet()) return
  const { boot_mode_config_timeout: timeout } = task.config.redfish
  const powerBefore = await task.driver.power.getPowerState(task)
  task.log.info(`Node ${task.node.uuid} is restarted to take ${what}`)
  await task.powerAction('rebooting')
  if (timeout > 0) {
    const deadline = task.clock.now().getTime() + timeout * 1000
    while (!(await isSet())) {
      if (task.clock.now().getTime() + lookIntervalMs > deadline)
        throw new RedfishError({
          error: `node ${task.node.uuid} does not show ${what} within ${timeout} s after a restart`,
        })
      await task.clock.sleep(lookIntervalMs, task.signal)
    }
  }
  if (powerBefore !== null) await task.powerAction(powerBefore)
}
