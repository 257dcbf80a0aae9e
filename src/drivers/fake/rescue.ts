import { RescueInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

export class FakeRescue extends RescueInterface {
  readonly name = 'fake'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  async rescue(task: Task): Promise<void> {
    await delay(this.parts.clock, this.parts.config.fake.rescue_delay, task.signal)
  }
  async unrescue(task: Task): Promise<void> {
    await delay(this.parts.clock, this.parts.config.fake.rescue_delay, task.signal)
  }
}
