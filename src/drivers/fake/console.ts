import type { JsonDict } from '../../objects/versioned-object.ts'
import { ConsoleInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'

/** There is nothing to see: the console starts and stops, and has no address. */
export class FakeConsole extends ConsoleInterface {
  readonly name = 'fake'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  startConsole(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  stopConsole(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  getConsole(_task: Task): Promise<JsonDict> {
    return Promise.resolve({})
  }
}
