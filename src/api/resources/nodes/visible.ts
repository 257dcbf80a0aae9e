/** Finding the node of a request, for those who may see it. */
import { getNode, getNodeRow, type NodeRow } from '../../../db/nodes.ts'
import { NotAuthorized } from '../../../errors/base.ts'
import { InvalidUuidOrName } from '../../../errors/general.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { isHostnameSafe, isLogicalName } from '../../../lib/text/names.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node } from '../../../objects/index.ts'
import type { AnyCall } from '../../resource.ts'
import { nodeTarget } from './view.ts'

/** Node names came with 1.5, first as host names, from 1.10 on with all unreserved characters. */
export const isNameIn = (name: string, minor: number): boolean =>
  minor < 10 ? isHostnameSafe(name) : isLogicalName(name)

function checkIdent(ident: string, minor: number): void {
  if (isUuidLike(ident)) return
  if (minor < 5) throw new NodeNotFound({ node: ident })
  if (!isNameIn(ident, minor)) throw new InvalidUuidOrName({ name: ident })
}

/** Below 1.91 a `.json` may have been cut from a name that ends so. */
async function found<N>(call: AnyCall, ident: string, suffix: boolean, get: (ident: string) => Promise<N>): Promise<N> {
  checkIdent(ident, call.minor)
  try {
    return await get(ident)
  } catch (error) {
    if (!suffix || !call.jsonSuffix || !(error instanceof NodeNotFound)) throw error
    return get(`${ident}.json`)
  }
}

/** Who may not see the node is told that it does not exist. */
function mustBeVisible(call: AnyCall, node: Node | NodeRow, ident: string): void {
  try {
    call.api.policy.authorize(call.context, 'baremetal:node:get', nodeTarget(node))
  } catch (cause) {
    if (!(cause instanceof NotAuthorized)) throw cause
    throw new NodeNotFound({ node: ident }, { cause })
  }
}

/**
 * The node, when the caller may see it and the rules allow what is asked.
 * @throws NodeNotFound, InvalidUuidOrName, HTTPForbidden
 */
export async function visibleNode(
  call: AnyCall,
  rules: string | readonly string[],
  { ident = call.params['node']!, suffix = false }: { ident?: string; suffix?: boolean } = {},
): Promise<Node> {
  const node = await found(call, ident, suffix, (name) => getNode(call.api.db, name))
  mustBeVisible(call, node, ident)
  for (const rule of typeof rules === 'string' ? [rules] : rules) {
    call.api.policy.authorize(call.context, rule, nodeTarget(node))
  }
  return node
}

/** The same as the row, for showing it. */
export async function visibleNodeRow(call: AnyCall): Promise<NodeRow> {
  const ident = call.params['node']!
  const row = await found(call, ident, true, (name) => getNodeRow(call.api.db, name))
  mustBeVisible(call, row, ident)
  return row
}
