import type { DriverInterface, NodePeriodic } from '../../drivers/interfaces/base.ts'
import type { DriverFactory } from '../../drivers/factory.ts'
import { forEachNode, ownNodePages, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

/** What the enabled interfaces do every so often: on the nodes that use them, and for the conductor as a whole. */
export const driverTasks = (drivers: DriverFactory): PeriodicTask[] => [
  ...drivers.all().flatMap((face) => face.periodics().map((periodic) => taskOf(face, periodic))),
  ...housekeeping(drivers),
]

function housekeeping(drivers: DriverFactory): PeriodicTask[] {
  const byName = new Map(drivers.all().flatMap((face) => face.housekeeping().map((work) => [work.name, work])))
  return [...byName.values()]
    .filter(({ interval }) => interval > 0)
    .map(({ name, interval, run }) => ({ name, interval, run: () => run() }))
}

const taskOf = (face: DriverInterface, periodic: NodePeriodic): PeriodicTask => ({
  name: `${face.type} ${face.name}: ${periodic.name}`,
  interval: periodic.interval,
  async run(parts) {
    const context = periodicContext(periodic.name)
    for await (const page of ownNodePages(parts, periodic.filters)) {
      const concerned = page.filter((node) => periodic.concerns?.(node) ?? true)
      await forEachNode(parts, concerned, parts.config.conductor.periodic_max_workers, async (node) => {
        const hold =
          (periodic.shared ?? true) ? parts.tasks.shared.bind(parts.tasks) : parts.tasks.exclusive.bind(parts.tasks)
        await hold(context, node.id, periodic.name, async (task) => {
          if (task.driver[face.type] === face) await periodic.run(task)
        })
      })
    }
  },
})
