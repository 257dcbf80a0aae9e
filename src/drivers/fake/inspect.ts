import { InspectInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

/** Finds nothing, at once. */
export class FakeInspect extends InspectInterface {
  readonly name = 'fake'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  async inspectHardware(task: Task): Promise<void> {
    await delay(this.parts.clock, this.parts.config.fake.inspect_delay, task.signal)
  }
}
