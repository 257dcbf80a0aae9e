import { InvalidParameterValue } from '../../errors/base.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { ManagementInterface, type BootDevice } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

const indicators = {
  chassis: { 'led-0': { readonly: true, states: ['off', 'on'] } },
  system: { led: { readonly: false, states: ['blinking', 'off', 'on'] } },
}

export class FakeManagement extends ManagementInterface {
  readonly name = 'fake'

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  supportedBootDevices(_task: Task): Promise<string[]> {
    return Promise.resolve(['pxe'])
  }
  async setBootDevice(task: Task, device: string): Promise<void> {
    await this.wait(task)
    if (!(await this.supportedBootDevices(task)).includes(device)) {
      throw new InvalidParameterValue(`${device} is no boot device of the fake management interface; it has pxe.`)
    }
  }
  async getBootDevice(task: Task): Promise<BootDevice> {
    await this.wait(task)
    return { boot_device: 'pxe', persistent: false }
  }
  override async getSensorsData(task: Task): Promise<JsonDict> {
    await this.wait(task)
    return {}
  }
  override async supportedIndicators(
    task: Task,
    component: string | null,
  ): Promise<Record<string, Record<string, JsonDict>>> {
    await this.wait(task)
    return Object.fromEntries(
      Object.entries(indicators).filter(([name]) => component === null || component === '' || component === name),
    )
  }
  override async getIndicatorState(task: Task, component: string, indicator: string): Promise<string> {
    await this.wait(task)
    const known: Readonly<Record<string, JsonDict>> = indicators
    if (known[component] === undefined) {
      throw new InvalidParameterValue(`Node ${task.node.uuid} has no indicators of a component ${component}.`)
    }
    if (known[component][indicator] === undefined) {
      throw new InvalidParameterValue(`Node ${task.node.uuid} has no indicator ${indicator} of its ${component}.`)
    }
    return 'on'
  }

  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.management_delay, task.signal)
  }
}
