import { RedfishError } from '../../errors/driver.ts'
import { isReady } from '../../lib/redfish/dell.ts'
import { runsWithoutAgent } from '../async-steps.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { RedfishRaid } from '../redfish/raid.ts'
import type { Task } from '../task.ts'
import { byAnyManager } from './managers.ts'

const waiting = { looks: 30, pauseMs: 10_000 } as const

/**
 * RAID of iDRACs: the controller must be ready for changes while the machine runs. Disks that are not in RAID mode, foreign
 * configurations and controllers in another mode are not converted here: the iDRAC refuses, and its words are passed on.
 */
export class DracRedfishRaid extends RedfishRaid {
  override readonly name: string = 'idrac-redfish'

  override steps(): readonly StepSpec[] {
    return super
      .steps()
      .filter((spec) => spec.phase !== 'service' || spec.step === 'apply_configuration')
      .map((spec): StepSpec => {
        const run = async (task: Task, args: Record<string, unknown>) => {
          await this.untilReady(task)
          return spec.run(task, args)
        }
        return { ...spec, ...(spec.phase === 'clean' && { requiresRamdisk: false }), run }
      })
  }

  private async untilReady(task: Task): Promise<void> {
    if (runsWithoutAgent(task.node) && (await task.driver.power.getPowerState(task)) === 'power off')
      await task.driver.power.setPowerState(task, 'power on')
    for (let look = 1; look <= waiting.looks; look++) {
      if (await this.isReady(task)) return
      await task.clock.sleep(waiting.pauseMs, task.signal)
    }
    task.log.warning(
      `The iDRAC of node ${task.node.uuid} does not say that its storage is ready; it is tried all the same`,
    )
  }

  private async isReady(task: Task): Promise<boolean> {
    try {
      return await this.bmcs.withSystem(task, 'see whether storage is ready', (system) =>
        byAnyManager(system, (manager) => isReady(manager, 'RTStatus')),
      )
    } catch (error) {
      if (error instanceof RedfishError) return false
      throw error
    }
  }
}
