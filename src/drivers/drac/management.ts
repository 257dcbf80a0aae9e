import { RedfishError } from '../../errors/driver.ts'
import { clearJobQueue, isReady, resetIdrac } from '../../lib/redfish/dell.ts'
import type { ManagerResource } from '../../lib/redfish/computer-system.ts'
import type { StepSpec } from '../interfaces/base.ts'
import { RedfishManagement } from '../redfish/management.ts'
import type { Task } from '../task.ts'
import { byAnyManager } from './managers.ts'

/** An iDRAC is away soon after its reset was taken, and back some minutes later. */
const reset = { firstMs: 60_000, pauseMs: 10_000, looks: 96 } as const

export class DracRedfishManagement extends RedfishManagement {
  override readonly name: string = 'idrac-redfish'

  override steps(): readonly StepSpec[] {
    const own: Readonly<Record<string, (task: Task) => Promise<void>>> = {
      clear_job_queue: (task) => this.clearJobs(task),
      reset_idrac: (task) => this.reset(task),
      known_good_state: async (task) => {
        await this.reset(task)
        await this.clearJobs(task)
      },
    }
    return [
      ...super.steps(),
      ...(['verify', 'clean'] as const).flatMap((phase) =>
        Object.entries(own).map(([step, run]): StepSpec => ({
          phase,
          step,
          priority: 0,
          requiresRamdisk: false,
          run: this.tolerant(run),
        })),
      ),
    ]
  }

  /** In verification, an iDRAC that cannot do it is warned of only. */
  private tolerant(run: (task: Task) => Promise<void>): (task: Task) => Promise<void> {
    return async (task) => {
      try {
        await run(task)
      } catch (error) {
        if (!(error instanceof RedfishError) || task.node.provision_state !== 'verifying') throw error
        task.log.warning(`The iDRAC of node ${task.node.uuid} could not be put in order; newer firmware may help`, {
          error,
        })
      }
    }
  }

  private clearJobs(task: Task): Promise<void> {
    return this.bmcs.withSystem(task, 'clear the job queue', (system) => byAnyManager(system, clearJobQueue))
  }

  private async reset(task: Task): Promise<void> {
    await this.bmcs.withSystem(task, 'reset the iDRAC', (system) => byAnyManager(system, resetIdrac))
    await task.clock.sleep(reset.firstMs, task.signal)
    for (let look = 1; ; look++) {
      if (await this.answersReady(task)) return
      if (look === reset.looks)
        throw new RedfishError({
          error: `the iDRAC of node ${task.node.uuid} is not ready ${(reset.looks * reset.pauseMs) / 60_000} minutes after its reset`,
        })
      await task.clock.sleep(reset.pauseMs, task.signal)
    }
  }

  private async answersReady(task: Task): Promise<boolean> {
    const ready = (manager: ManagerResource) => isReady(manager, 'LCStatus')
    try {
      return await this.bmcs.withSystem(task, 'see whether the iDRAC is ready', (system) => byAnyManager(system, ready))
    } catch (error) {
      if (error instanceof RedfishError) return false
      throw error
    }
  }
}
