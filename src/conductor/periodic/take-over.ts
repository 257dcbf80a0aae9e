import type { Config } from '../../config/index.ts'
import { takeOver } from '../flows/adopt.ts'
import { background } from '../tasks.ts'
import { forEachNode, ownNodes, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

/** Active nodes that another conductor had prepared get their boot files and console from this one. */
export const takeOvers = (config: Config): PeriodicTask => ({
  name: 'take-over',
  interval: config.conductor.sync_local_state_interval,
  async run(parts) {
    const nodes = await ownNodes(parts, {
      filters: { reserved: false, maintenance: false, provision_state: 'active' },
      fields: ['conductor_affinity'],
    })
    const foreign = nodes.filter(({ conductor_affinity }) => conductor_affinity !== parts.conductorId)
    const most = config.conductor.periodic_max_workers
    await forEachNode(parts, foreign.slice(0, most), most, ({ id }) =>
      parts.tasks.background<void>(
        periodicContext('take-over'),
        id,
        'take-over',
        async (task) => {
          const { node } = task
          if (node.maintenance || node.provision_state !== 'active' || node.conductor_affinity === parts.conductorId)
            return
          return background(() => takeOver(task))
        },
        { useReserved: false },
      ),
    )
  },
})
