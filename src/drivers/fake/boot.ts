import { BootInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

export class FakeBoot extends BootInterface {
  readonly name = 'fake'
  override readonly capabilities = ['ipxe_boot', 'pxe_boot']

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  prepareRamdisk(task: Task): Promise<void> {
    return this.wait(task)
  }
  cleanUpRamdisk(task: Task): Promise<void> {
    return this.wait(task)
  }
  prepareInstance(task: Task): Promise<void> {
    return this.wait(task)
  }
  cleanUpInstance(task: Task): Promise<void> {
    return this.wait(task)
  }

  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.boot_delay, task.signal)
  }
}
