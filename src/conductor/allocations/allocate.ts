/** Finding a node for an allocation, and giving an allocation to a node that is in use already. */
import { updateAllocation } from '../../db/allocations.ts'
import { listNodes } from '../../db/nodes.ts'
import type { RequestContext } from '../../domain/context.ts'
import { AllocationFailed, AllocationNotFound } from '../../errors/allocation.ts'
import { InstanceAssociated, NodeAssociated, NodeLocked, NodeNotFound } from '../../errors/node.ts'
import type { Allocation, Node } from '../../objects/index.ts'
import { messageOf } from '../power-action.ts'
import type { Tasks } from '../tasks.ts'

const traitsOf = (node: Node): string[] => (node.traits ?? []).map((row) => String(row['trait']))
const hasTraits = (node: Node, wanted: readonly string[] | null): boolean => {
  const own = new Set(traitsOf(node))
  return (wanted ?? []).every((trait) => own.has(trait))
}

const failure = (allocation: Allocation, error: string) => new AllocationFailed({ uuid: allocation.uuid, error })

/** Chooses a node and reserves it; an allocation that gets none ends in `error` with the reason. */
export async function allocate(tasks: Tasks, context: RequestContext, allocation: Allocation): Promise<void> {
  try {
    await reserveOne(tasks, context, allocation, await candidates(tasks, allocation))
  } catch (error) {
    const declared = error instanceof AllocationFailed
    tasks.parts.log.error(`Allocation ${allocation.uuid} failed: ${messageOf(error)}`, declared ? {} : { error })
    await markFailed(tasks, allocation, declared ? error.message : `Unexpected failure: ${messageOf(error)}`)
  }
}

/** Free nodes that fit, in random order: so two allocations seldom want the same one. The one of that name comes first. */
export async function candidates(tasks: Tasks, allocation: Allocation): Promise<Node[]> {
  const wanted = allocation.candidate_nodes ?? []
  const free = await listNodes(tasks.parts.db, {
    filters: {
      resource_class: allocation.resource_class,
      provision_state: 'available',
      associated: false,
      with_power_state: true,
      maintenance: false,
      ...(wanted.length > 0 ? { uuid_in: wanted } : {}),
      ...(allocation.owner ? { project: allocation.owner } : {}),
    },
  })
  if (free.length === 0) {
    const which = wanted.length > 0 ? 'none of the candidate nodes is' : 'no node is'
    throw failure(allocation, `${which} available with the resource class ${allocation.resource_class}`)
  }
  const fitting = free.filter((node) => hasTraits(node, allocation.traits))
  if (fitting.length === 0) {
    throw failure(allocation, `no available node has the traits ${(allocation.traits ?? []).join(', ')}`)
  }
  const shuffled = fitting.map((node) => ({ node, at: Math.random() })).toSorted((a, b) => a.at - b.at)
  const order = shuffled.map(({ node }) => node)
  const named = order.find(({ name }) => allocation.name !== null && name === allocation.name)
  return named === undefined ? order : [named, ...order.filter((node) => node !== named)]
}

/** Takes the first that can be locked and still fits; nodes that are locked are tried again. */
async function reserveOne(tasks: Tasks, context: RequestContext, allocation: Allocation, nodes: Node[]): Promise<void> {
  const { clock, config, signal } = tasks.parts
  let left = nodes
  for (let attempt = 1; ; attempt++) {
    const locked: Node[] = []
    for (const node of left) {
      const outcome = await tryNode(tasks, context, allocation, node)
      if (outcome === 'taken') return
      if (outcome === 'locked') locked.push(node)
    }
    if (locked.length === 0) throw failure(allocation, 'all suitable nodes were taken or changed meanwhile')
    if (attempt >= config.conductor.node_locked_retry_attempts) {
      throw failure(allocation, `none of ${locked.length} suitable nodes could be locked`)
    }
    left = locked
    await clock.sleep(config.conductor.node_locked_retry_interval * 1000, signal)
  }
}

async function tryNode(
  tasks: Tasks,
  context: RequestContext,
  allocation: Allocation,
  node: Node,
): Promise<'taken' | 'locked' | 'unfit'> {
  try {
    return await tasks.exclusive(
      context,
      node.id,
      'allocating',
      async (task) => {
        if (!stillFits(task.node, allocation)) return 'unfit'
        await give(tasks, allocation, task.node)
        return 'taken'
      },
      { retry: false, loadDriver: false },
    )
  } catch (error) {
    if (error instanceof NodeLocked) return 'locked'
    if (error instanceof NodeAssociated || error instanceof NodeNotFound) return 'unfit'
    throw error
  }
}

const stillFits = (node: Node, allocation: Allocation): boolean =>
  !node.maintenance &&
  node.instance_uuid === null &&
  node.provision_state === 'available' &&
  node.resource_class === allocation.resource_class &&
  hasTraits(node, allocation.traits)

async function give(tasks: Tasks, allocation: Allocation, node: Node): Promise<void> {
  await updateAllocation(tasks.parts.db, allocation.id, { node_id: node.id, state: 'active' })
  tasks.parts.log.info(`Allocation ${allocation.uuid} got node ${node.uuid}`)
}

/**
 * Gives the allocation to the node it names, which must be active and fit.
 * @throws AllocationFailed, NodeAssociated, InstanceAssociated, NodeNotFound; the allocation is in `error` then
 */
export async function backfill(
  tasks: Tasks,
  context: RequestContext,
  allocation: Allocation,
  nodeId: number,
): Promise<void> {
  try {
    await tasks.exclusive(context, nodeId, 'allocation backfilling', async ({ node }) => {
      const problems = misfits(node, allocation)
      if (problems.length > 0) {
        throw failure(allocation, `node ${node.uuid} cannot be given to it afterwards: ${problems.join('; ')}`)
      }
      await give(tasks, allocation, node)
    })
  } catch (error) {
    const expected = [AllocationFailed, NodeAssociated, InstanceAssociated, NodeNotFound].some(
      (kind) => error instanceof kind,
    )
    tasks.parts.log.error(`Allocation ${allocation.uuid} failed: ${messageOf(error)}`, expected ? {} : { error })
    await markFailed(tasks, allocation, messageOf(error))
    throw error
  }
}

function misfits(node: Node, allocation: Allocation): string[] {
  const problems: string[] = []
  if (node.provision_state !== 'active') problems.push(`its state is ${node.provision_state}, not active`)
  if (allocation.resource_class && node.resource_class !== allocation.resource_class) {
    problems.push(`its resource class is ${node.resource_class}, not ${allocation.resource_class}`)
  }
  if (!hasTraits(node, allocation.traits)) {
    problems.push(
      `its traits are ${traitsOf(node).join(', ') || 'none'}, wanted are ${(allocation.traits ?? []).join(', ')}`,
    )
  }
  const wanted = allocation.candidate_nodes ?? []
  if (wanted.length > 0 && !wanted.includes(node.uuid ?? '')) problems.push('it is not among the candidate nodes')
  return problems
}

async function markFailed(tasks: Tasks, allocation: Allocation, reason: string): Promise<void> {
  try {
    await updateAllocation(tasks.parts.db, allocation.id, {
      node_id: null,
      state: 'error',
      last_error: reason,
    })
  } catch (error) {
    // somebody has deleted it meanwhile
    if (!(error instanceof AllocationNotFound)) throw error
  }
}
