/** Who may see and change ports and port groups: it depends on their node. */
import { getNode, getNodeById } from '../../../db/nodes.ts'
import { getPort } from '../../../db/ports.ts'
import { getPortgroup } from '../../../db/portgroups.ts'
import { HTTPForbidden, NotAuthorized } from '../../../errors/base.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { PortgroupNotFound, PortNotFound } from '../../../errors/port.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node, Port, Portgroup } from '../../../objects/index.ts'
import type { AnyCall } from '../../resource.ts'
import { nodeTarget } from '../nodes/view.ts'

async function nodeOf(call: AnyCall, { node_id: id }: { node_id: number | null }): Promise<Node | undefined> {
  if (id === null) return undefined
  try {
    return await getNodeById(call.api.db, id)
  } catch (error) {
    // deleted a moment ago
    if (error instanceof NodeNotFound) return undefined
    throw error
  }
}

/** @throws what `missing` makes when the caller may not see the node, HTTPForbidden when the rule refuses */
function authorize(call: AnyCall, node: Node | undefined, rule: string, missing: () => Error): void {
  const target = { 'node.owner': node?.owner ?? null, 'node.lessee': node?.lessee ?? null }
  try {
    call.api.policy.authorize(call.context, 'baremetal:node:get', target)
  } catch (error) {
    if (!(error instanceof NotAuthorized)) throw error
    throw missing()
  }
  call.api.policy.authorize(call.context, rule, target)
}

/** @throws PortNotFound, HTTPForbidden */
export async function visiblePort(
  call: AnyCall,
  rule: string,
  ident: string,
): Promise<{ port: Port; node: Node | undefined }> {
  const port = await getPort(call.api.db, ident)
  const node = await nodeOf(call, port)
  authorize(call, node, rule, () => new PortNotFound({ port: ident }))
  return { port, node }
}

/** @throws PortgroupNotFound, HTTPForbidden */
export async function visiblePortgroup(
  call: AnyCall,
  rule: string,
  ident: string,
): Promise<{ portgroup: Portgroup; node: Node | undefined }> {
  const portgroup = await getPortgroup(call.api.db, ident)
  const node = await nodeOf(call, portgroup)
  authorize(call, node, rule, () => new PortgroupNotFound({ portgroup: ident }))
  return { portgroup, node }
}

/** The node of a nested list: told by its UUID only, and visible. @throws NodeNotFound */
export async function parentNode(call: AnyCall, ident: string): Promise<Node> {
  const missing = new NodeNotFound({ node: ident })
  if (!isUuidLike(ident)) throw missing
  const node = await getNode(call.api.db, ident)
  try {
    call.api.policy.authorize(call.context, 'baremetal:node:get', nodeTarget(node))
  } catch (error) {
    if (error instanceof NotAuthorized) throw missing
    throw error
  }
  return node
}

/** The port group of a nested list: told by its UUID only, its node visible. @throws PortgroupNotFound */
export async function parentPortgroup(call: AnyCall, ident: string): Promise<Portgroup> {
  const missing = new PortgroupNotFound({ portgroup: ident })
  if (!isUuidLike(ident)) throw missing
  const portgroup = await getPortgroup(call.api.db, ident)
  const node = await nodeOf(call, portgroup)
  authorize(call, node, 'baremetal:node:get', () => missing)
  return portgroup
}

/**
 * The project whose ports (or port groups) the caller may list; undefined: all.
 * @throws HTTPForbidden
 */
export function listedProject(
  { api: { policy }, context }: AnyCall,
  resource: 'port' | 'portgroup',
): string | undefined {
  try {
    policy.authorize(context, `baremetal:${resource}:list_all`)
    return undefined
  } catch (error) {
    if (!(error instanceof HTTPForbidden) || !context.project_id) throw error
    policy.authorize(context, `baremetal:${resource}:list`)
    return context.project_id
  }
}

/** The node of a new port or port group. Its absence is a bad request, told only to who may create there. */
export async function nodeForNew(
  call: AnyCall,
  ident: string,
  rule: string,
  get: (ident: string) => Promise<Node>,
): Promise<Node> {
  let node: Node | undefined
  try {
    node = await get(ident)
    call.api.policy.authorize(call.context, 'baremetal:node:get', nodeTarget(node))
  } catch (error) {
    if (!(error instanceof NodeNotFound) && !(error instanceof HTTPForbidden)) throw error
    node = undefined
  }
  call.api.policy.authorize(call.context, rule, {
    'node.owner': node?.owner ?? null,
    ...(node?.lessee ? { 'node.lessee': node.lessee } : {}),
  })
  if (node === undefined) throw new NodeNotFound(`Node ${ident} could not be found.`, { code: 400 })
  return node
}
