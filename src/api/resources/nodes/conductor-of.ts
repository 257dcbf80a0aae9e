import { NoValidHost } from '../../../errors/conductor.ts'
import type { Node } from '../../../objects/index.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import type { AnyCall } from '../../resource.ts'

/**
 * The conductor that serves the node.
 * @param code the status when there is none; clients can see which drivers exist, so some requests are bad (400) rather than early
 */
export async function conductorOf(
  call: AnyCall,
  node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>,
  code?: 400,
): Promise<ConductorClient> {
  return withCode(call.api.conductors.ofNode(node), code)
}

/** The same for what must be possible even when nobody runs the node's hardware type any more: maintenance, changes, deletion. */
export async function keeperOf(
  call: AnyCall,
  node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>,
  code?: 400,
): Promise<ConductorClient> {
  return withCode(call.api.conductors.forUpkeep(node), code)
}

async function withCode(found: Promise<ConductorClient>, code: 400 | undefined): Promise<ConductorClient> {
  try {
    return await found
  } catch (error) {
    if (code === undefined || !(error instanceof NoValidHost)) throw error
    throw new NoValidHost(error.message, { code, cause: error })
  }
}
