import { LRUCache } from 'lru-cache'
import { type BiosSettingValues, listBiosSettings, syncBiosSettings } from '../../db/bios-settings.ts'
import { touchNodeProvisioning } from '../../db/nodes.ts'
import { dropInternal, internalInfo, setInternal } from '../../domain/internal-info.ts'
import { IronicError } from '../../errors/define.ts'
import { RedfishError, UnsupportedDriverExtension } from '../../errors/driver.ts'
import {
  attributeRegistryIfAny,
  type BiosResource,
  pendingAttributes,
  type RegistryAttribute,
  resetBios,
  setBiosAttributes,
} from '../../lib/redfish/bios.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { Bios } from '../../lib/redfish/resources.ts'
import { flag, isObject, type JsonObject, number, text } from '../../lib/redfish/shape.ts'
import { rebootToFinishStep } from '../agent/ramdisk-boot.ts'
import { isPolled, runsWithoutAgent, setAsyncStep, waitStates } from '../async-steps.ts'
import type { NodePeriodic, StepSpec } from '../interfaces/base.ts'
import { BiosInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { checkedSettings, type Setting } from './bios-settings.ts'
import { Bmcs } from './bmcs.ts'
import { redfishProperties } from './driver-info.ts'

const stateKey = 'redfish_bios_state'
const formerKeys = ['requested_bios_attrs', 'post_bios_reboot_requested']
/** Firmware has done its part when the machine is so far. */
const booted: ReadonlySet<string> = new Set(['OSBootStarted', 'OSRunning'])
/** Some BMCs show new values only a while after the machine is up. */
const settling = { looks: 6, pauseMs: 10_000 } as const
const registriesKept = 32

/** What is stored while the machine reboots. */
interface BiosState {
  readonly reboot_requested: true
  /** what was asked for; absent for a reset */
  readonly requested_bios_attrs?: JsonObject
}

export class RedfishBios extends BiosInterface {
  readonly name: string = 'redfish'
  protected readonly bmcs: Bmcs
  private readonly registries = new LRUCache<string, readonly RegistryAttribute[]>({ max: registriesKept })

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
  }

  override properties() {
    return redfishProperties
  }

  async validate(task: Task): Promise<void> {
    this.bmcs.checkDriverInfo(task)
  }

  async cacheBiosSettings(task: Task): Promise<void> {
    const settings = await this.bmcs.withSystem(task, 'read the BIOS settings', async (system) => {
      const bios = await biosOf(system)
      if (bios === null) throw new UnsupportedDriverExtension(`The BMC of node ${task.node.uuid} has no BIOS settings.`)
      return this.described(bios)
    })
    await syncBiosSettings(task.db, task.node.id, settings)
  }

  override steps(): readonly StepSpec[] {
    const settings = { description: 'A list of BIOS settings, each with name and value.', required: true }
    return (['clean', 'deploy', 'service'] as const).flatMap((phase): StepSpec[] => [
      {
        phase,
        step: 'apply_configuration',
        priority: 0,
        requiresRamdisk: false,
        args: { settings },
        run: (task, args) => this.applyConfiguration(task, args['settings']),
      },
      { phase, step: 'factory_reset', priority: 0, requiresRamdisk: false, run: (task) => this.factoryReset(task) },
    ])
  }

  override periodics(): readonly NodePeriodic[] {
    return [
      {
        name: 'BIOS settings being applied',
        interval: this.parts.config.redfish.firmware_update_status_interval,
        filters: { reserved: false, provision_state_in: waitStates },
        concerns: (node) => node.driver_internal_info?.[stateKey] !== undefined && isPolled(node),
        run: (task) => this.lookAfter(task),
      },
    ]
  }

  private async applyConfiguration(task: Task, given: unknown): Promise<'wait' | void> {
    const state = stateOf(task)
    if (state?.requested_bios_attrs !== undefined) return this.finishApply(task, state.requested_bios_attrs)
    const settings = checkedSettings(task.node, given, await listBiosSettings(task.db, task.node.id))
    const attributes = Object.fromEntries(settings.map(({ name, value }) => [name, value]))
    const changed = await this.bmcs.withSystem(task, 'apply the BIOS settings', async (system) => {
      const bios = await neededBios(task, system)
      if (await isSet(bios, settings)) return false
      await setBiosAttributes(bios, attributes)
      return true
    })
    if (changed) return this.reboot(task, { reboot_requested: true, requested_bios_attrs: attributes })
    task.log.info(`The BIOS settings of node ${task.node.uuid} are as wanted already`)
  }

  private async factoryReset(task: Task): Promise<'wait' | void> {
    if (stateOf(task) !== null) {
      await this.forget(task)
      return this.cacheBiosSettings(task)
    }
    await this.bmcs.withSystem(task, 'reset the BIOS settings', async (system) =>
      resetBios(await neededBios(task, system)),
    )
    return this.reboot(task, { reboot_requested: true })
  }

  /** Hook of variants: what happens after the BMC has taken the change. The state is stored before. */
  protected async reboot(task: Task, state: BiosState): Promise<'wait'> {
    setInternal(task.node, stateKey, state)
    setAsyncStep(task.node, { reboot: true, skipCurrentStep: false, polling: runsWithoutAgent(task.node) })
    await task.save()
    await rebootToFinishStep(task)
    return 'wait'
  }

  private async finishApply(task: Task, wanted: JsonObject): Promise<void> {
    await this.forget(task)
    const missing = await this.bmcs.withSystem(task, 'check the BIOS settings', async (system) => {
      for (let look = 1; ; look++) {
        const left = await unapplied(await neededBios(task, system), wanted)
        if (left.length === 0 || look === settling.looks) return left
        await task.clock.sleep(settling.pauseMs, task.signal)
      }
    })
    await this.cacheBiosSettings(task)
    if (missing.length > 0)
      throw new RedfishError({
        error: `after its restart, node ${task.node.uuid} does not have the BIOS settings ${missing.join(', ')}; look into the log of its BMC`,
      })
  }

  private async forget(task: Task): Promise<void> {
    dropInternal(task.node, [stateKey, ...formerKeys])
    await task.save()
  }

  /** Goes on with the flow of a node without agent, once its firmware has taken the settings. */
  private async lookAfter(task: Task): Promise<void> {
    let system: SystemResource
    try {
      system = await this.bmcs.systemOf(task)
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      task.log.warning(`The BMC of node ${task.node.uuid} does not answer while its BIOS settings are applied`, {
        error,
      })
      return
    }
    const progress = system.data.BootProgress?.LastState
    if (progress !== undefined) {
      await touchNodeProvisioning(task.db, task.node.id)
      if (!booted.has(progress)) return
    }
    const wanted = stateOf(task)?.requested_bios_attrs
    if (wanted !== undefined) {
      const left = await this.bmcs.telling(task, 'check the BIOS settings', async () =>
        unapplied(await neededBios(task, system), wanted),
      )
      if (left.length > 0) return
    }
    await task.resumeFlow()
  }

  /** The settings as they are stored: text values, and what the registry says of them. */
  private async described(bios: BiosResource): Promise<BiosSettingValues[]> {
    const registry = await this.registryOf(bios)
    const byName = new Map((registry ?? []).map((entry) => [entry['AttributeName'], entry]))
    return Object.entries(bios.data.Attributes ?? {}).map(([name, value]) => ({
      name,
      value: asText(value),
      ...facts(byName.get(name)),
    }))
  }

  private async registryOf(bios: BiosResource): Promise<readonly RegistryAttribute[] | null> {
    const name = bios.data.AttributeRegistry
    if (name === undefined) return null
    const key = `${bios.bmc.client.address} ${name}`
    const known = this.registries.get(key)
    if (known !== undefined) return known
    const read = await attributeRegistryIfAny(bios.bmc, name)
    if (read !== null) this.registries.set(key, read)
    return read
  }
}

const biosOf = (system: SystemResource): Promise<BiosResource | null> => system.bmc.find(Bios, system.data.Bios)

async function neededBios(task: Task, system: SystemResource): Promise<BiosResource> {
  const bios = await biosOf(system)
  if (bios === null) throw new RedfishError({ error: `the BMC of node ${task.node.uuid} has no BIOS settings` })
  return bios
}

function stateOf(task: Task): BiosState | null {
  const state = internalInfo(task.node)[stateKey]
  return isObject(state) && state['reboot_requested'] === true ? (state as unknown as BiosState) : null
}

/** Is each setting in effect, and nothing else waiting for it? */
async function isSet(bios: BiosResource, settings: readonly Setting[]): Promise<boolean> {
  const current = bios.data.Attributes ?? {}
  if (settings.some(({ name, value }) => current[name] !== value)) return false
  const pending = await pendingAttributes(bios)
  return settings.every(({ name, value }) => !Object.hasOwn(pending, name) || pending[name] === value)
}

/** Names that are not in effect. BMCs that keep only what waits in the settings resource must have emptied it, too. */
async function unapplied(bios: BiosResource, wanted: JsonObject): Promise<string[]> {
  const current = bios.data.Attributes ?? {}
  const pending = await pendingAttributes(bios)
  const keepsWaitingOnly = Object.keys(pending).length <= Object.keys(wanted).length
  return Object.keys(wanted).filter(
    (name) => current[name] !== wanted[name] || (keepsWaitingOnly && Object.hasOwn(pending, name)),
  )
}

/** Values as the API shows them, and as Python writes them. */
function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value)
}

function facts(entry: RegistryAttribute | undefined): Partial<BiosSettingValues> {
  if (entry === undefined) return {}
  const values = entry['Value']
  const names = Array.isArray(values)
    ? values
        .filter(isObject)
        .map((value) => text(value['ValueName']) || text(value['ValueDisplayName']))
        .filter((name) => name !== undefined && name !== '')
    : null
  const whole = (value: unknown) => {
    const read = number(value)
    return read === undefined ? null : Math.trunc(read)
  }
  return {
    attribute_type: text(entry['Type']) ?? null,
    allowable_values: names as string[] | null,
    lower_bound: whole(entry['LowerBound']),
    upper_bound: whole(entry['UpperBound']),
    min_length: whole(entry['MinLength']),
    max_length: whole(entry['MaxLength']),
    read_only: flag(entry['ReadOnly']) ?? null,
    reset_required: flag(entry['ResetRequired']) ?? null,
    unique: flag(entry['IsSystemUniqueProperty']) ?? null,
  }
}
