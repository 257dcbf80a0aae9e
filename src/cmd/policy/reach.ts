/** Who may do what by a set of rules, found by asking each rule for each kind of caller. */
import type { PolicyTarget } from '../../api/authorizer.ts'
import type { RequestContext } from '../../domain/context.ts'

/** Answers a rule for a caller and a thing. */
export type Ask = (context: RequestContext, rule: string, target: PolicyTarget) => boolean

/** Roles as Keystone implies them: each brings those after it; `service` brings none. */
export const roles = {
  admin: ['admin', 'manager', 'member', 'reader'],
  manager: ['manager', 'member', 'reader'],
  member: ['member', 'reader'],
  reader: ['reader'],
  service: ['service'],
} as const
export type Role = keyof typeof roles
export const roleNames = Object.keys(roles) as Role[]

/**
 * On what a caller may do it. `all`: on everything, or the thing belongs to nobody; `own`, `leased`: on what the caller's
 * project owns or leases.
 */
export type Reach = 'all' | 'own+leased' | 'own' | 'leased' | '-'

export interface RuleReach {
  readonly rule: string
  readonly system: Readonly<Record<Role, Reach>>
  readonly project: Readonly<Record<Role, Reach>>
}

const [own, other] = ['caller', 'another']
const ownedBy = (owner: string): PolicyTarget => ({
  'node.owner': owner,
  'allocation.owner': owner,
  'runbook.owner': owner,
})
const things = { others: ownedBy(other), own: ownedBy(own), leased: { ...ownedBy(other), 'node.lessee': own } }

const caller = (role: Role, scope: Partial<RequestContext>): RequestContext => ({
  request_id: 'ironic-policy',
  user_id: 'someone',
  roles: roles[role],
  ...scope,
})

function reachOf(ask: Ask, rule: string, context: RequestContext): Reach {
  if (ask(context, rule, things.others)) return 'all'
  const isOwn = ask(context, rule, things.own)
  if (ask(context, rule, things.leased)) return isOwn ? 'own+leased' : 'leased'
  return isOwn ? 'own' : '-'
}

/** What each role of the system and of a project reaches by a rule. */
export function reach(ask: Ask, rule: string): RuleReach {
  const forScope = (scope: Partial<RequestContext>) =>
    Object.fromEntries(roleNames.map((role) => [role, reachOf(ask, rule, caller(role, scope))])) as Record<Role, Reach>
  return {
    rule,
    system: forScope({ system_scope: 'all' }),
    project: forScope({ project_id: own, project_name: 'some', project_domain_id: 'some' }),
  }
}

/** A table for people: a line for each rule, a column for each role of either scope. */
export function reachTable(rows: readonly RuleReach[]): string {
  const cells = [
    [
      '',
      ...roleNames.map((_, index) => (index === 0 ? 'system' : '')),
      ...roleNames.map((_, index) => (index === 0 ? 'project' : '')),
    ],
    ['rule', ...roleNames, ...roleNames],
    ...rows.map(({ rule, system, project }) => [
      rule,
      ...roleNames.map((role) => system[role]),
      ...roleNames.map((role) => project[role]),
    ]),
  ]
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return cells
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
