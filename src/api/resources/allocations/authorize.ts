import { HTTPForbidden, NotAuthorized } from '../../../errors/base.ts'
import { InvalidScope } from '../../../lib/oslo-policy/enforcer.ts'
import type { AnyCall } from '../../resource.ts'

/** The owner that the new allocation gets; undefined: as the body says. */
export interface Ownership {
  readonly owner: string | null
}

const create = 'baremetal:allocation:create'
const restricted = 'baremetal:allocation:create_restricted'
/** Who could create one before scopes came; asked besides while the former rules still count. */
const former = 'baremetal:allocation:create_pre_rbac'

/**
 * Decides who may create an allocation, and for which project. Outside of the system's own roles it belongs to the caller's
 * project, unless the caller has the restricted right.
 * @throws HTTPForbidden, NotAuthorized
 */
export function authorizeCreate(call: AnyCall, asked: string | null): Ownership {
  const { policy, config } = call.api
  const { context } = call
  const scoped = config.oslo_policy.enforce_new_defaults
  const project = context.project_id || null
  let owner = asked
  try {
    policy.authorize(context, create)
    if (!scoped && !asked) policy.authorize(context, former)
  } catch (error) {
    // a token of a scope that the rule does not take at all finds no other way in
    if (!(error instanceof HTTPForbidden) || error.cause instanceof InvalidScope) throw error
    if (project !== null && asked && project !== asked) throw error
    if (asked && !scoped) policy.authorize(context, former)
    policy.authorize(context, restricted)
    owner = project
  }
  if (!scoped || context.system_scope === 'all') return { owner }
  if (!owner) return { owner: project }
  if (owner !== project && !policy.allows(context, restricted)) {
    throw new NotAuthorized(`An allocation for project ${owner} needs the right ${restricted}.`)
  }
  return { owner }
}

/** The project in which candidates are looked for; undefined: everywhere. */
export const candidateProject = ({ api, context }: AnyCall): string | undefined =>
  api.policy.allows(context, restricted) ? undefined : (context.project_id ?? undefined)

export const allocationTarget = (allocation: { owner?: unknown }) => ({ 'allocation.owner': allocation.owner ?? null })
