import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Node } from '../objects/index.ts'

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Is this the token that the node's agent was given? Takes as long for any wrong token as for the right one
 * (both sides are hashed first, so that length tells nothing).
 */
export function agentTokenIsValid(node: Node, token: string | null | undefined): boolean {
  const known: unknown = node.driver_internal_info?.['agent_secret_token']
  const equal = timingSafeEqual(digest(typeof known === 'string' ? known : ''), digest(token ?? ''))
  return equal && typeof known === 'string' && known !== '' && typeof token === 'string'
}

/** A new token: 32 random bytes, URL-safe. */
export const newAgentToken = (): string => randomBytes(32).toString('base64url')

export const agentTokenPresent = (node: Node): boolean =>
  typeof node.driver_internal_info?.['agent_secret_token'] === 'string'

/** Put into the boot medium, so that it outlives a reboot. */
export const agentTokenPregenerated = (node: Node): boolean =>
  node.driver_internal_info?.['agent_secret_token_pregenerated'] === true
