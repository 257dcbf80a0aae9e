/** What the API asks of the policies. */
import type { RequestContext } from '../domain/context.ts'

/** Attributes of the thing that a rule looks at: `node.owner`, `node.lessee`, `allocation.owner`, … */
export type PolicyTarget = Readonly<Record<string, unknown>>

export interface Authorizer {
  /** Takes over what changed in the policy files; called once for each request, before anything is asked. */
  refresh(): void
  /** @throws HTTPForbidden when the rule refuses; always allows where authentication is not Keystone's */
  authorize(context: RequestContext, rule: string, target?: PolicyTarget): void
  /** The same as an answer. */
  allows(context: RequestContext, rule: string, target?: PolicyTarget): boolean
  /** The rule as it is written, whatever the authentication: secrets stay masked without Keystone. */
  check(context: RequestContext, rule: string, target?: PolicyTarget): boolean
  /** Whether a rule of that name is there at all; rules for single steps are, when an operator's file has them. */
  knows(rule: string): boolean
}

/** Nobody is asked: everything is allowed, and secrets stay masked (what real Ironic does without Keystone). */
export const openAuthorizer: Authorizer = {
  refresh: () => {},
  authorize: () => {},
  allows: () => true,
  check: () => false,
  knows: () => false,
}
