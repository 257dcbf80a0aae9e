import { fieldArgs } from '../../listing.ts'
import { jsonText, optional, route } from '../../resource.ts'
import { Uuid, UuidOrName } from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { nodeText, nodeView } from './view.ts'
import { visibleNode, visibleNodeRow } from './visible.ts'
import { BadRequest, NotAcceptable } from '../../../errors/base.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'

const showNode = route({
  method: 'GET',
  path: '/v1/nodes/:node',
  answer: nodeView,
  policy: 'baremetal:node:get',
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const row = await visibleNodeRow(call)
    nodeView.check(fields, call.minor)
    return jsonText(await nodeText(call, row, fields ?? null))
  },
})

const validateNode = route({
  method: 'GET',
  path: '/v1/nodes/:node/validate',
  action: true,
  policy: ['baremetal:node:get', 'baremetal:node:validate'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:validate')
    return (await conductorOf(call, node)).validate_driver_interfaces(call.context, { node_id: node.uuid ?? '' })
  },
})

/** The older spelling, with the node in the query. */
const validateNamedNode = route({
  method: 'GET',
  path: '/v1/nodes/validate',
  action: true,
  policy: ['baremetal:node:get', 'baremetal:node:validate'],
  asks: 'handler',
  args: { node: optional(UuidOrName), node_uuid: optional(Uuid) },
  async handler(call) {
    const { node: named, node_uuid: uuid } = call.args
    if (named !== undefined && call.minor < 5 && !isUuidLike(named)) {
      throw new NotAcceptable('Naming a node needs API version 1.5 or newer.')
    }
    const ident = uuid ?? named
    if (ident === undefined) throw new BadRequest('Expected a logical name or UUID in the parameter node.')
    const node = await visibleNode(call, 'baremetal:node:validate', { ident })
    return (await conductorOf(call, node)).validate_driver_interfaces(call.context, { node_id: node.uuid ?? '' })
  },
})

export const nodeShowRoutes = [showNode, validateNode, validateNamedNode]
