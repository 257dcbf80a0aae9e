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
  try {
    return await call.api.conductors.ofNode(node)
  } catch (error) {
    if (code === undefined || !(error instanceof NoValidHost)) throw error
    throw new NoValidHost(error.message, { code, cause: error })
  }
}
