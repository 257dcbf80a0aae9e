import { StorageInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

export class FakeStorage extends StorageInterface {
  readonly name = 'fake'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  attachVolumes(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.storage_delay, task.signal)
  }
  detachVolumes(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.storage_delay, task.signal)
  }
  shouldWriteImage(_task: Task): Promise<boolean> {
    return Promise.resolve(true)
  }
}
