import type { Node } from '../../../objects/node.ts'
import { announced } from '../../announce.ts'
import { optional, route, type AnyCall } from '../../resource.ts'
import { Text } from '../../values.ts'
import { keeperOf } from './conductor-of.ts'
import { visibleNode } from './visible.ts'

async function setMaintenance(call: AnyCall, node: Node, maintenance: boolean, reason: string | null): Promise<void> {
  const data: Node = { ...node, maintenance, maintenance_reason: reason }
  const conductor = await keeperOf(call, node, 400)
  const node_obj = { data, changes: ['maintenance', 'maintenance_reason'] as const }
  await announced(call, 'node.maintenance_set', data, () => conductor.update_node(call.context, { node_obj }))
}

const startMaintenance = route({
  method: 'PUT',
  path: '/v1/nodes/:node/maintenance',
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:set_maintenance'],
  asks: 'handler',
  args: { reason: optional(Text) },
  async handler(call) {
    await setMaintenance(
      call,
      await visibleNode(call, 'baremetal:node:set_maintenance'),
      true,
      call.args.reason ?? null,
    )
  },
})

const endMaintenance = route({
  method: 'DELETE',
  path: '/v1/nodes/:node/maintenance',
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:clear_maintenance'],
  asks: 'handler',
  async handler(call) {
    await setMaintenance(call, await visibleNode(call, 'baremetal:node:clear_maintenance'), false, null)
  },
})

export const nodeMaintenanceRoutes = [startMaintenance, endMaintenance]
