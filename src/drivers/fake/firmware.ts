import type { StepSpec } from '../interfaces/base.ts'
import { FirmwareInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

export class FakeFirmware extends FirmwareInterface {
  readonly name = 'fake'

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  override steps(): readonly StepSpec[] {
    return [
      {
        phase: 'clean',
        step: 'update',
        priority: 0,
        args: {
          settings: {
            description: 'List of Firmware components, each item needs to contain a dictionary with name/value pairs',
            required: true,
          },
        },
        run: (task) => this.wait(task),
      },
    ]
  }
  cacheFirmwareComponents(task: Task): Promise<void> {
    return this.wait(task)
  }

  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.firmware_delay, task.signal)
  }
}
