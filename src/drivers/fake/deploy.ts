import type { StepSpec } from '../interfaces/base.ts'
import { DeployInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

export class FakeDeploy extends DeployInterface {
  readonly name = 'fake'

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  override steps(): readonly StepSpec[] {
    return [{ phase: 'deploy', step: 'deploy', priority: 100, run: (task) => this.wait(task) }]
  }
  prepare(task: Task): Promise<void> {
    return this.wait(task)
  }
  cleanUp(task: Task): Promise<void> {
    return this.wait(task)
  }
  takeOver(task: Task): Promise<void> {
    return this.wait(task)
  }
  tearDown(task: Task): Promise<void> {
    return this.wait(task)
  }

  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.deploy_delay, task.signal)
  }
}
