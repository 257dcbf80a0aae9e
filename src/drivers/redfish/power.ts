import { type PowerState, powerTargets, type PowerTarget } from '../../domain/states.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { resetSystem, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { BmcRefused } from '../../lib/redfish/problems.ts'
import { PowerInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { restoreBootDevice } from './boot-device.ts'
import { redfishProperties } from './driver-info.ts'
import { powerStateOf, resetTypes, waitForPower } from './power-state.ts'

/** A restart that leaves the power on cannot be seen from outside; it is given this long to take hold. */
const restartPauseMs = 15_000
const bootsAgain: ReadonlySet<string> = new Set(['power on', 'soft rebooting', 'rebooting'])

/** Words by which BMCs that do not tell the power state say that it is right already. */
const alreadyThere: readonly { readonly state: PowerState; readonly words: readonly string[] }[] = [
  { state: 'power off', words: ['host is powered off', 'already powered off'] },
  { state: 'power on', words: ['host is powered on', 'already powered on'] },
]

export class RedfishPower extends PowerInterface {
  readonly name: string = 'redfish'
  protected readonly bmcs: Bmcs

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

  async getPowerState(task: Task): Promise<PowerState> {
    return powerStateOf(await this.bmcs.systemOf(task))
  }

  async setPowerState(task: Task, target: string, { timeout = null }: { timeout?: number | null } = {}): Promise<void> {
    if (!Object.hasOwn(powerTargets, target))
      throw new InvalidParameterValue(`${target} is no power state that can be set.`)
    await this.bmcs.withSystem(task, `set ${target}`, async (system) => {
      if (bootsAgain.has(target)) await restoreBootDevice(task, system)
      await this.change(task, system, target as PowerTarget, timeout)
    })
  }

  /** Off, then on. A node that must not be powered off is restarted instead. */
  async reboot(task: Task, { timeout = null }: { timeout?: number | null } = {}): Promise<void> {
    await this.bmcs.withSystem(task, 'reboot', async (system) => {
      const isOn = powerStateOf(system) === 'power on'
      if (isOn && !task.node.disable_power_off) await this.change(task, system, 'power off', timeout)
      await restoreBootDevice(task, system)
      await this.change(task, system, isOn && task.node.disable_power_off ? 'rebooting' : 'power on', timeout)
    })
  }

  override supportedPowerStates(): readonly string[] {
    return Object.keys(resetTypes)
  }

  private async change(task: Task, system: SystemResource, target: PowerTarget, timeout: number | null): Promise<void> {
    try {
      await this.send(task, system, target)
    } catch (error) {
      if (!(error instanceof BmcRefused) || !(await this.isThere(error, system, powerTargets[target]))) throw error
      this.parts.log.info(`Node ${task.node.uuid} is in the power state of ${target} already`, { error })
      return
    }
    if (target === 'rebooting') await task.clock.sleep(restartPauseMs, task.signal)
    await waitForPower(task, powerTargets[target], timeout)
  }

  /** The reset; some BMCs refuse `On` for a while after a power off, though it is right. */
  private async send(task: Task, system: SystemResource, target: PowerTarget): Promise<void> {
    const { power_on_conflict_retry_attempts: attempts, power_on_conflict_retry_interval: interval } =
      this.parts.config.redfish
    for (let left = target === 'power on' ? attempts : 0; ; left--) {
      try {
        return await resetSystem(system, resetTypes[target]!)
      } catch (error) {
        const settling =
          error instanceof BmcRefused && error.status === 409 && error.words.includes('ActionParameterValueConflict')
        if (!settling || left <= 0) throw error
        this.parts.log.warning(`The BMC of node ${task.node.uuid} does not take a power on yet; trying again`, {
          error,
          left,
        })
        await task.clock.sleep(interval * 1000, task.signal)
      }
    }
  }

  /** BMCs refuse a state that they are in already; the state itself decides, and only without it their words. */
  private async isThere(error: BmcRefused, system: SystemResource, wanted: PowerState): Promise<boolean> {
    if (error.status !== 400 && error.status !== 409) return false
    const state = powerStateOf(await system.refresh())
    if (state !== null) return state === wanted
    const words = error.words.toLowerCase()
    return alreadyThere.some((hint) => hint.state === wanted && hint.words.some((word) => words.includes(word)))
  }
}
