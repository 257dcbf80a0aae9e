import { randomUUID } from 'node:crypto'
import { HTTPForbidden, Invalid } from '../../../errors/base.ts'
import { NodeObject, type Node } from '../../../objects/node.ts'
import { announced } from '../../announce.ts'
import { createBody } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import { jsonText, route, type AnyCall } from '../../resource.ts'
import type { Members } from '../../values.ts'
import { conductorOf, keeperOf } from './conductor-of.ts'
import { nodeFields } from './fields.ts'
import { chassisNamed, chassisOf, checkBootMode, checkName, linkableNode } from './rules.ts'
import { nodeView, nodeText } from './view.ts'
import { visibleNode } from './visible.ts'

/**
 * Projects may enroll nodes of their own: the owner is then the project.
 * @returns whether the node is made as one's own
 */
function mayCreate({ api: { config, policy }, context }: AnyCall): boolean {
  const own =
    config.api.project_admin_can_manage_own_nodes && policy.allows(context, 'baremetal:node:create:self_owned_node')
  if (!own) policy.authorize(context, 'baremetal:node:create')
  return own
}

function ownerOf({ context }: AnyCall, requested: string | null | undefined): string | null {
  const project = context.project_id ?? null
  if (requested && requested !== project) {
    throw new Invalid('Cannot create a node as a project scoped admin with an owner other than your own project.')
  }
  return project
}

/** A whole object: what was not given is null, so that its conductor finds every field. */
export const completeNode = (values: Members): Node => {
  const node: Members = {}
  for (const name of Object.keys(NodeObject.fields)) node[name] = null
  return {
    ...node,
    maintenance: false,
    console_enabled: false,
    protected: false,
    retired: false,
    disable_power_off: false,
    ...values,
  } as Node
}

const createNode = route({
  method: 'POST',
  path: '/v1/nodes',
  answer: nodeView,
  status: 201,
  policy: ['baremetal:node:create:self_owned_node', 'baremetal:node:create'],
  asks: 'handler',
  body: createBody(nodeFields),
  fields: nodeFields,
  async handler(call) {
    const { chassis_uuid: chassisUuid, ...given } = call.body
    if (given['properties'] === null)
      throw new Invalid('The properties of a new node cannot be null; leave them out or give an object.')
    for (const flag of ['maintenance', 'console_enabled']) {
      if (given[flag] === null) throw new Invalid(`${flag} of a node is true or false, never null.`)
    }
    const { config } = call.api
    const { properties } = given as { properties?: Members }
    checkBootMode(properties?.['capabilities'], config.api.disallowed_enrollment_boot_modes)
    const own = mayCreate(call)
    if (given['name'] !== undefined && given['name'] !== null) checkName(given['name'], call.minor)
    const values: Members = {
      ...given,
      uuid: given['uuid'] || randomUUID(),
      conductor_group: given['conductor_group'] || config.DEFAULT.default_conductor_group || '',
      resource_class: given['resource_class'] || config.DEFAULT.default_resource_class || null,
      provision_state: call.minor < 11 ? 'available' : 'enroll',
    }
    if (own && call.context.system_scope !== 'all') values['owner'] = ownerOf(call, given['owner'] as string | null)
    const chassis = await chassisNamed(call, chassisUuid as string | null)
    values['chassis_id'] = chassis?.id ?? null
    if (values['parent_node']) {
      values['parent_node'] = (
        await linkableNode(call, values['owner'] as string | null, values['parent_node'], 'parent_node')
      ).uuid
    }
    const data = completeNode(values)
    const conductor = await conductorOf(call, data, 400)
    const changes = Object.keys(values) as (keyof Node)[]
    const make = () => conductor.create_node(call.context, { node_obj: { data, changes } })
    const node = await announced(call, 'node.create', data, make, { chassis_uuid: chassis?.uuid ?? null })
    return jsonText(await nodeText(call, node), { location: resourceUrl(call.url, 'nodes', node.uuid ?? '') })
  },
})

const deleteNode = route({
  method: 'DELETE',
  path: '/v1/nodes/:node',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:delete', 'baremetal:node:delete:self_owned_node'],
  asks: 'handler',
  extra: 404,
  async handler(call) {
    const node = await deletable(call)
    const conductor = await keeperOf(call, node, 400)
    const destroy = () => conductor.destroy_node(call.context, { node_id: node.uuid ?? '' })
    await announced(call, 'node.delete', node, destroy, await chassisOf(call, node))
  },
})

async function deletable(call: AnyCall): Promise<Node> {
  try {
    return await visibleNode(call, 'baremetal:node:delete', { suffix: true })
  } catch (error) {
    if (!(error instanceof HTTPForbidden) || !call.api.config.api.project_admin_can_manage_own_nodes) throw error
    return visibleNode(call, 'baremetal:node:delete:self_owned_node', { suffix: true })
  }
}

export const nodeCreateRoutes = [createNode, deleteNode]
