/** RPC entry of allocations; how a node is chosen stands in `allocate` of the parts. */
import { createAllocation, destroyAllocation, getAllocationById } from '../../db/allocations.ts'
import { InvalidState } from '../../errors/base.ts'
import { UPDATE_ALLOWED_STATES } from '../../domain/states.ts'
import type { Allocation, Node } from '../../objects/index.ts'
import { allocate, backfill } from '../allocations/allocate.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const allocationMethods = (parts: ServiceParts): Methods<'create_allocation' | 'destroy_allocation'> => ({
  async create_allocation(context, { allocation: { data } }) {
    const { id: _id, created_at: _created, updated_at: _updated, node_id: wanted, ...values } = data
    const created = await createAllocation(parts.db, {
      ...values,
      node_id: null,
      conductor_affinity: parts.conductorId,
    })
    if (wanted !== null && wanted !== undefined) {
      await backfill(parts.tasks, context, created, wanted)
      return getAllocationById(parts.db, created.id)
    }
    parts.workers.start(`Allocation ${created.uuid}`, () => allocate(parts.tasks, context, created))
    return created
  },

  async destroy_allocation(context, { allocation: { data } }) {
    if (data.node_id === null || data.node_id === undefined) return destroyAllocation(parts.db, data.id)
    await parts.tasks.exclusive(
      context,
      data.node_id,
      'allocation deletion',
      async ({ node }) => {
        checkDeallocation(node, data)
        await destroyAllocation(parts.db, data.id)
      },
      { loadDriver: false },
    )
  },
})

/** An allocation holds its node while that is active or on its way. @throws InvalidState */
function checkDeallocation(node: Node, allocation: Allocation): void {
  if (node.maintenance) return
  const busy = node.target_provision_state !== null && !UPDATE_ALLOWED_STATES.has(node.provision_state)
  if (!busy && node.provision_state !== 'active') return
  throw new InvalidState(
    `Allocation ${allocation.uuid} cannot be removed while its node ${node.uuid} is in the state ${node.provision_state}; undeploy it, or put it into maintenance.`,
  )
}
