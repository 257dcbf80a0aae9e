import { MissingParameterValue } from '../../errors/driver.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { VendorInterface, type VendorMethod } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

const needsBar: readonly string[] = ['second_method', 'third_method_sync', 'fourth_method_shared_lock']

/** Vendor methods and steps that exist to be tried. */
export class FakeVendor extends VendorInterface {
  readonly name = 'fake'

  override properties(): Readonly<Record<string, string>> {
    return { B1: 'B1 of the fake vendor interface. Required.', B2: 'B2 of the fake vendor interface. Required.' }
  }
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  override validateMethod(_task: Task, method: string, _httpMethod: string, info: JsonDict): Promise<void> {
    if (!needsBar.includes(method) || Boolean(info['bar'])) return Promise.resolve()
    return Promise.reject(new MissingParameterValue(`The vendor method ${method} needs the parameter bar.`))
  }
  override methods(): Readonly<Record<string, VendorMethod>> {
    const post = { httpMethods: ['POST'], async: true, attach: false, requireExclusiveLock: true }
    return {
      second_method: {
        ...post,
        description: 'Tells whether bar is kazoo.',
        run: (task, info) => this.compare(task, info, 'kazoo'),
      },
      third_method_sync: {
        ...post,
        async: false,
        description: 'Tells whether bar is meow, and waits for the answer.',
        run: (task, info) => this.compare(task, info, 'meow'),
      },
      fourth_method_shared_lock: {
        ...post,
        requireExclusiveLock: false,
        description: 'Tells whether bar is woof, without locking the node.',
        run: (task, info) => this.compare(task, info, 'woof'),
      },
      log_passthrough: { ...post, description: 'Does nothing for a while.', run: (task) => this.wait(task) },
    }
  }
  override steps(): readonly StepSpec[] {
    return [
      { phase: 'clean', step: 'log_passthrough', priority: 1, run: (task) => this.wait(task) },
      {
        phase: 'service',
        step: 'log_passthrough',
        priority: 0,
        requiresRamdisk: false,
        run: (task) => this.wait(task),
      },
      { phase: 'service', step: 'trigger_servicewait', priority: 0, run: () => Promise.resolve('wait') },
    ]
  }

  private async compare(task: Task, info: JsonDict, expected: string): Promise<boolean> {
    await this.wait(task)
    return info['bar'] === expected
  }
  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.vendor_delay, task.signal)
  }
}
