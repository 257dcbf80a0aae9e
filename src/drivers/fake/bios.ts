import { applyBiosSettings, deleteBiosSettings } from '../../db/bios-settings.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { BiosInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { delay } from './delay.ts'

interface Setting {
  readonly name: string
  readonly value: string | null
}

/** Settings live in the table only. */
export class FakeBios extends BiosInterface {
  readonly name = 'fake'

  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  override steps(): readonly StepSpec[] {
    return [
      {
        phase: 'clean',
        step: 'apply_configuration',
        priority: 0,
        args: {
          settings: {
            description: 'List of BIOS settings, each item needs to contain a dictionary with name/value pairs',
            required: true,
          },
        },
        run: (task, args) => this.applyConfiguration(task, args['settings']),
      },
      { phase: 'clean', step: 'cache_bios_settings', priority: 0, run: (task) => this.cacheBiosSettings(task) },
      { phase: 'clean', step: 'factory_reset', priority: 0, run: (task) => this.factoryReset(task) },
    ]
  }
  cacheBiosSettings(task: Task): Promise<void> {
    return this.wait(task)
  }

  private async applyConfiguration(task: Task, settings: unknown): Promise<void> {
    await this.wait(task)
    if (!isSettings(settings)) {
      throw new InvalidParameterValue('The settings of a BIOS configuration must be a list of {name, value}.')
    }
    await applyBiosSettings(task.db, task.node.id, settings)
  }
  private async factoryReset(task: Task): Promise<void> {
    await this.wait(task)
    await deleteBiosSettings(task.db, task.node.id)
  }
  private wait(task: Task): Promise<void> {
    return delay(this.parts.clock, this.parts.config.fake.bios_delay, task.signal)
  }
}

const isSettings = (value: unknown): value is Setting[] =>
  Array.isArray(value) &&
  value.every((item: unknown) => typeof item === 'object' && item !== null && 'name' in item && 'value' in item)
