/** What a conductor puts in order before it takes work: what the one before it left behind. */
import { listAllocations } from '../db/allocations.ts'
import { clearReservations, clearTargetPowerStates } from '../db/nodes.ts'
import type { Db } from '../db/database.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../domain/states.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { allocate } from './allocations/allocate.ts'
import { restoreConsole } from './flows/console.ts'
import { forEachNode, ownNodes, periodicContext } from './periodic/own-nodes.ts'
import type { ServiceParts } from './service/parts.ts'

const context = periodicContext('start-up')

/** Locks that an earlier run of this host left, whatever the case of its name, and power changes that died with it. */
export async function releaseOwnLocks(db: Db, host: string, log: Logger): Promise<void> {
  const powered = await clearTargetPowerStates(db, host)
  if (powered.length > 0)
    log.warning(`Power changes were cut off by the restart, see these nodes: ${powered.join(', ')}`)
  const released = await clearReservations(db, host)
  if (released.length > 0) log.warning(`Locks of an earlier run of ${host} are released: ${released.join(', ')}`)
}

/** Nodes in a state that nothing goes on with have failed; all of them, oldest first. */
export async function failStuckNodes(parts: ServiceParts): Promise<void> {
  const stuck = await ownNodes(parts, {
    filters: { reserved: false, provision_state_in: [...STUCK_STATES_TREATED_AS_FAIL] },
    sortKey: 'provision_updated_at',
  })
  await forEachNode(parts, stuck, parts.config.conductor.periodic_max_workers, ({ id }) =>
    parts.tasks.exclusive(
      context,
      id,
      'repair after a restart',
      async (task) => {
        const { node } = task
        if (!STUCK_STATES_TREATED_AS_FAIL.has(node.provision_state)) return
        await task.addHistory(
          `Node ${node.uuid} was ${node.provision_state} when conductor ${parts.host} stopped, which cannot be gone on with; start it again.`,
          'transition',
        )
        await task.fire('fail')
      },
      { loadDriver: false },
    ),
  )
}

/** Consoles that were on are started again. */
export async function startConsoles(parts: ServiceParts): Promise<void> {
  const nodes = await ownNodes(parts, { filters: { console_enabled: true } })
  await forEachNode(parts, nodes, parts.config.conductor.periodic_max_workers, ({ id }) =>
    parts.tasks.exclusive(context, id, 'console start', (task) => restoreConsole(task, 'startup failure')),
  )
}

/** Allocations that this conductor had not finished. */
export async function resumeAllocations(parts: ServiceParts): Promise<void> {
  const open = await listAllocations(parts.db, {
    filters: { state: 'allocating', conductor_affinity: parts.conductorId },
  })
  for (const allocation of open) await allocate(parts.tasks, context, allocation)
}
