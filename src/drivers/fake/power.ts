import { InvalidParameterValue } from '../../errors/base.ts'
import type { PowerState } from '../../domain/states.ts'
import { PowerInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

const settable: readonly string[] = ['power on', 'power off', 'soft rebooting', 'soft power off']

/** Reports what the row says and accepts everything. */
export class FakePower extends PowerInterface {
  readonly name = 'fake'

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }

  async getPowerState(task: Task): Promise<PowerState> {
    await this.wait(task)
    return task.node.power_state as PowerState
  }

  async setPowerState(task: Task, target: string): Promise<void> {
    await this.wait(task)
    if (!settable.includes(target)) {
      throw new InvalidParameterValue(
        `The fake power interface cannot set the power state ${target} of node ${task.node.uuid}.`,
      )
    }
    task.node.power_state = target
  }

  async reboot(task: Task): Promise<void> {
    await this.wait(task)
  }

  override supportedPowerStates(_task: Task): readonly string[] {
    return ['power on', 'power off', 'rebooting', 'soft rebooting', 'soft power off']
  }

  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.power_delay, task.signal)
  }
}
