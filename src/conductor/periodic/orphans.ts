import type { Config } from '../../config/index.ts'
import { listAllocations, takeOverAllocation } from '../../db/allocations.ts'
import { listConductors, offlineConductors } from '../../db/conductors.ts'
import { listNodes, releaseNode } from '../../db/nodes.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../../domain/states.ts'
import { NodeLocked, NodeNotFound, NodeNotLocked } from '../../errors/node.ts'
import type { Node } from '../../objects/index.ts'
import { allocate } from '../allocations/allocate.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { failStepFlow } from '../flows/fail.ts'
import { cleanFlow } from '../flows/step-flows.ts'
import type { ServiceParts } from '../service/parts.ts'
import { background } from '../tasks.ts'
import { forEachNode, ownNodes, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

const context = periodicContext('orphans')

/**
 * Frees nodes that a dead conductor holds: one whose heartbeat stopped, or whose entry is gone. What it was doing to them has
 * failed.
 */
export const orphanNodes = (config: Config): PeriodicTask => ({
  name: 'orphan nodes',
  interval: config.conductor.check_provision_state_interval,
  async run(parts) {
    const locked = await listNodes(parts.db, {
      filters: { reserved: true, include_children: true },
      fields: ['id', 'uuid', 'driver', 'conductor_group', 'reservation'],
    })
    if (locked.length === 0) return
    const dead = await deadHosts(parts, locked)
    const orphans: Node[] = []
    for (const node of locked)
      if (dead.has(lower(node.reservation)) && (await parts.ring.maps(parts.host, node))) orphans.push(node)
    await forEachNode(parts, orphans, config.conductor.periodic_max_workers, (node) => adopt(parts, node))
  },
})

const lower = (host: string | null): string => (host ?? '').toLowerCase()

async function deadHosts(parts: ServiceParts, locked: readonly Node[]): Promise<Set<string>> {
  const dead = new Set(
    (await offlineConductors(parts.db, parts.config.conductor.heartbeat_timeout)).map((row) => lower(row.hostname)),
  )
  const known = new Set((await listConductors(parts.db)).map(({ hostname }) => lower(hostname)))
  for (const { reservation } of locked) if (!known.has(lower(reservation))) dead.add(lower(reservation))
  if (dead.delete(lower(parts.host))) {
    parts.log.warning('This conductor counts as dead: its heartbeat did not reach the database in time')
  }
  return dead
}

async function adopt(parts: ServiceParts, { id, uuid, reservation }: Node): Promise<void> {
  try {
    await releaseNode(parts.db, reservation ?? '', id)
  } catch (error) {
    const gone = error instanceof NodeNotFound || error instanceof NodeLocked || error instanceof NodeNotLocked
    if (gone) return
    throw error
  }
  parts.log.warning(`The lock of conductor ${reservation} on node ${uuid} is removed: that conductor is gone`)
  await parts.tasks.background<void>(
    context,
    id,
    'repair after a conductor died',
    async (task) => background(() => repair(task, reservation)),
    { useReserved: false, loadDriver: false },
  )
}

async function repair(task: ConductorTask, host: string | null): Promise<void> {
  const { node } = task
  if (node.target_power_state !== null) {
    node.target_power_state = null
    await task.addHistory(
      `The power change of node ${node.uuid} was cut off when conductor ${host} went away.`,
      'takeover',
    )
    await task.save()
  }
  if (!STUCK_STATES_TREATED_AS_FAIL.has(node.provision_state)) return
  const message = `Node ${node.uuid} was ${node.provision_state} when conductor ${host} went away, so that has failed; start it again.`
  if (node.provision_state === cleanFlow.running) {
    task.loadDriver()
    return failStepFlow(task, cleanFlow, { message })
  }
  await task.addHistory(message, 'takeover')
  await task.fire('fail')
}

/** Seconds after which a running state that nobody works in counts as abandoned: no driver lends its lock for so long. */
const abandonedAfter = 1800

/**
 * Nodes in a running state that nobody works in: the work ended without being able to say so, as when the database was away.
 * At the next start they would be repaired; this does not wait for it.
 */
export const abandonedNodes = (config: Config): PeriodicTask => ({
  name: 'abandoned nodes',
  interval: config.conductor.check_provision_state_interval,
  async run(parts) {
    const filters = {
      reserved: false,
      provision_state_in: [...STUCK_STATES_TREATED_AS_FAIL],
      provisioned_before: abandonedAfter,
    }
    const left = (await ownNodes(parts, { filters })).filter(({ id }) => !parts.tasks.isBusy(id))
    await forEachNode(parts, left, config.conductor.periodic_max_workers, ({ id }) =>
      parts.tasks.exclusive(
        context,
        id,
        'repair of an abandoned node',
        async (task) => {
          const { node } = task
          if (!STUCK_STATES_TREATED_AS_FAIL.has(node.provision_state) || parts.tasks.isBusy(id)) return
          await task.addHistory(
            `Node ${node.uuid} was ${node.provision_state}, and nobody worked on it any more; start it again.`,
            'transition',
          )
          await task.fire('fail')
        },
        { loadDriver: false },
      ),
    )
  },
})

/** Allocations that a dead conductor was looking for nodes for. */
export const orphanAllocations = (config: Config): PeriodicTask => ({
  name: 'orphan allocations',
  interval: config.conductor.check_allocations_interval,
  async run(parts) {
    const offline = await offlineConductors(parts.db, config.conductor.heartbeat_timeout)
    const dead = offline.filter(({ id }) => id !== parts.conductorId).map(({ id }) => id)
    if (dead.length === 0) return
    const open = await listAllocations(parts.db, { filters: { state: 'allocating', conductor_affinity_in: dead } })
    for (const allocation of open) {
      if (!(await takeOverAllocation(parts.db, allocation.id, allocation.conductor_affinity, parts.conductorId)))
        continue
      parts.log.info(`Allocation ${allocation.uuid} is taken over from a conductor that is gone`)
      await allocate(parts.tasks, periodicContext('allocations'), allocation)
    }
  },
})
