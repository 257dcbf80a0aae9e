import { listFirmwareComponents, syncFirmwareComponents } from '../../db/firmware.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import { IronicError } from '../../errors/define.ts'
import { isObject } from '../../lib/redfish/shape.ts'
import { failStates, waitStates } from '../async-steps.ts'
import type { NodePeriodic, StepSpec } from '../interfaces/base.ts'
import { FirmwareInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { redfishProperties } from './driver-info.ts'
import { componentTypeOf, readFirmware } from './firmware-inventory.ts'
import { FirmwareUpdates, type Update } from './firmware-updates.ts'

const key = 'redfish_fw_updates'
const known: readonly string[] = ['component', 'url', 'wait']

export class RedfishFirmware extends FirmwareInterface {
  readonly name: string = 'redfish'
  private readonly bmcs: Bmcs
  private readonly updates: FirmwareUpdates

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
    this.updates = new FirmwareUpdates(parts, { key, finished: (task) => this.refreshCache(task) })
  }

  override properties() {
    return redfishProperties
  }

  async validate(task: Task): Promise<void> {
    this.bmcs.checkDriverInfo(task)
  }

  async cacheFirmwareComponents(task: Task): Promise<void> {
    const components = await this.bmcs.withSystem(task, 'read the firmware versions', (system) =>
      readFirmware(task, system),
    )
    if (components.length === 0)
      throw new UnsupportedDriverExtension(`The BMC of node ${task.node.uuid} tells no firmware versions.`)
    const before = new Map(
      (await listFirmwareComponents(task.db, task.node.id)).map((each) => [each.component, each.current_version]),
    )
    const changed = components.map((each) => {
      const former = before.get(each.component)
      const isNew = former !== undefined && former !== each.current_version
      return isNew ? { ...each, last_version_flashed: each.current_version ?? null } : each
    })
    await syncFirmwareComponents(task.db, task.node.id, changed)
  }

  override steps(): readonly StepSpec[] {
    const settings = {
      description: 'A list of updates, each with component, url, and perhaps wait (seconds).',
      required: true,
    }
    return (['clean', 'deploy', 'service'] as const).map((phase): StepSpec => ({
      phase,
      step: 'update',
      priority: 0,
      abortable: false,
      requiresRamdisk: phase !== 'service',
      args: { settings },
      run: (task, args) => this.updates.start(task, checkedUpdates(args['settings'])),
    }))
  }

  override periodics(): readonly NodePeriodic[] {
    const { firmware_update_status_interval: status, firmware_update_fail_interval: fail } = this.parts.config.redfish
    return updatePeriodics(key, status, fail, this.updates)
  }

  /** New versions in the table; a BMC that is busy again costs a line in the log. */
  private async refreshCache(task: Task): Promise<void> {
    try {
      await this.cacheFirmwareComponents(task)
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      task.log.warning(`The firmware versions of node ${task.node.uuid} could not be read after the update`, { error })
    }
  }
}

/** The two pollers of updates that are stored under a key. */
export const updatePeriodics = (
  key: string,
  status: number,
  fail: number,
  updates: FirmwareUpdates,
): NodePeriodic[] => {
  const concerns = (node: { driver_internal_info: Record<string, unknown> | null }) =>
    Boolean(node.driver_internal_info?.[key])
  return [
    {
      name: 'firmware updates under way',
      interval: status,
      filters: { reserved: false, provision_state_in: waitStates },
      concerns,
      run: (task) => updates.poll(task),
    },
    {
      name: 'firmware updates of failed nodes',
      interval: fail,
      filters: { reserved: false, provision_state_in: failStates },
      concerns,
      run: (task) => updates.discard(task),
    },
  ]
}

/**
 * The arguments of the older step `update_firmware`: files that say themselves what they are for.
 * @throws InvalidParameterValue naming the entry that is wrong
 */
export function checkedImages(given: unknown): Update[] {
  if (!Array.isArray(given)) throw new InvalidParameterValue('firmware_images must be a list.')
  const sources: readonly unknown[] = ['http', 'local', 'swift', undefined]
  return given.map((each: unknown, index) => {
    const wrong = (what: string) => new InvalidParameterValue(`Firmware image ${index + 1}: ${what}.`)
    if (!isObject(each)) throw wrong('it must be an object')
    const { url, checksum, wait, source, ...others } = each
    if (Object.keys(others).length > 0) throw wrong(`${Object.keys(others)[0]} is not known`)
    if (typeof url !== 'string' || url === '' || typeof checksum !== 'string' || checksum === '')
      throw wrong('url and checksum must be texts')
    if (wait !== undefined && (!Number.isInteger(wait) || (wait as number) < 1))
      throw wrong('wait must be a whole number of seconds from 1')
    if (!sources.includes(source)) throw wrong('source must be http, local or swift')
    return {
      component: 'firmware',
      url,
      checksum,
      ...(wait !== undefined && { wait: wait as number }),
      ...(source !== undefined && { source: source as string }),
    }
  })
}

/** @throws InvalidParameterValue naming the entry that is wrong */
export function checkedUpdates(given: unknown): Update[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new InvalidParameterValue('settings of a firmware update must be a list of at least one update.')
  return given.map((each: unknown, index) => {
    const wrong = (what: string) => new InvalidParameterValue(`Firmware update ${index + 1}: ${what}.`)
    if (!isObject(each)) throw wrong('it must be an object')
    const { component, url, wait } = each
    const other = Object.keys(each).find((name) => !known.includes(name))
    if (other !== undefined) throw wrong(`${other} is not known; there are ${known.join(', ')}`)
    if (typeof component !== 'string' || componentTypeOf(component) === null)
      throw wrong('component must be bios, bmc or nic: with the serial number of an adapter')
    if (typeof url !== 'string' || url === '') throw wrong('url must be a text')
    if (wait !== undefined && (!Number.isInteger(wait) || (wait as number) < 1))
      throw wrong('wait must be a whole number of seconds from 1')
    return { component, url, ...(wait !== undefined && { wait: wait as number }) }
  })
}
