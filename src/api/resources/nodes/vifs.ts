import { Invalid } from '../../../errors/base.ts'
import { route } from '../../resource.ts'
import { members, UuidOrName } from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { idOf } from './states.ts'
import { visibleNode } from './visible.ts'

const window = { since: 28, outside: 'routing 404' } as const

const listVifs = route({
  ...window,
  method: 'GET',
  path: '/v1/nodes/:node/vifs',
  policy: ['baremetal:node:get', 'baremetal:node:vif:list'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:vif:list')
    return { vifs: await (await conductorOf(call, node, 400)).vif_list(call.context, idOf(node)) }
  },
})

const attachVif = route({
  ...window,
  method: 'POST',
  path: '/v1/nodes/:node/vifs',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:vif:attach'],
  asks: 'handler',
  body: members({ id: UuidOrName }, { others: true }),
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:vif:attach')
    const conductor = await conductorOf(call, node, 400)
    if (call.minor >= 67 && 'port_uuid' in call.body && 'portgroup_uuid' in call.body) {
      throw new Invalid('Cannot specify both port_uuid and portgroup_uuid')
    }
    await conductor.vif_attach(call.context, { ...idOf(node), vif_info: call.body })
  },
})

const detachVif = route({
  ...window,
  method: 'DELETE',
  path: '/v1/nodes/:node/vifs/:vif',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:vif:detach'],
  asks: 'handler',
  async handler(call) {
    const vif_id = UuidOrName.read('vif_id', call.params['vif'])
    const node = await visibleNode(call, 'baremetal:node:vif:detach')
    await (await conductorOf(call, node, 400)).vif_detach(call.context, { ...idOf(node), vif_id })
  },
})

export const nodeVifRoutes = [listVifs, attachVif, detachVif]
