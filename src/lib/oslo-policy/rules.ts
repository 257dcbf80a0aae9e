import { anyOf, checkText, referredRules, type Check } from './check.ts'
import { remoteKinds } from './compile.ts'
import { parseRule } from './parse.ts'

export type ScopeType = 'system' | 'domain' | 'project'

/** A rule that a service declares; an operator's file may replace its check, never its scopes. */
export interface RuleDefault {
  readonly name: string
  readonly check: string
  /** Which tokens may use the rule at all; none given: every one. */
  readonly scope_types?: readonly string[]
  /** The former rule in its place. It counts beside the new one unless `enforce_new_defaults`, or where a file still names it. */
  readonly deprecated_rule?: { readonly name: string; readonly check: string }
}

/** The rules of an operator's files, parsed. */
export type FileRules = ReadonlyMap<string, Check>

export interface RuleOptions {
  readonly enforceNewDefaults: boolean
}

/**
 * What holds in the end, by name: the operator's rules, and the defaults for all the rest.
 * A file that still sets the former name of a rule thereby sets the rule, unless it only points to the new name.
 */
export function effectiveRules(
  defaults: readonly RuleDefault[],
  fileRules: FileRules,
  { enforceNewDefaults }: RuleOptions,
): Map<string, Check> {
  const rules = new Map(fileRules)
  for (const rule of defaults) {
    if (!rules.has(rule.name)) rules.set(rule.name, defaultCheck(rule, fileRules, enforceNewDefaults))
  }
  return rules
}

function defaultCheck(rule: RuleDefault, fileRules: FileRules, enforceNewDefaults: boolean): Check {
  const check = parseRule(rule.check)
  const former = rule.deprecated_rule
  if (former === undefined) return check
  const formerCheck = parseRule(former.check)
  const set = former.name === rule.name ? undefined : fileRules.get(former.name)
  if (set !== undefined && checkText(set) !== checkText(formerCheck) && checkText(set) !== `rule:${rule.name}`)
    return set
  return enforceNewDefaults || former.check === rule.check ? check : anyOf([check, formerCheck])
}

/** What is plainly wrong in a set of rules; each sentence names the rule. An operator reads them in the log. */
export function ruleProblems(rules: ReadonlyMap<string, Check>): string[] {
  return [...rules].flatMap(([name, check]) => [
    ...referredRules(check)
      .filter((other) => !rules.has(other))
      .map(
        (other) => `Policy rule "${name}" refers to "${other}", which is not defined; that part of it is never met.`,
      ),
    ...(isCyclic(rules, check, new Set([name]))
      ? [`Policy rule "${name}" refers to itself; it cannot be checked.`]
      : []),
    ...remoteChecks(check).map(
      (text) =>
        `Policy rule "${name}" has the remote check "${text}"; those are not done, and what needs it is refused.`,
    ),
  ])
}

function isCyclic(rules: ReadonlyMap<string, Check>, check: Check, above: ReadonlySet<string>): boolean {
  return referredRules(check).some((name) => {
    const next = rules.get(name)
    return above.has(name) || (next !== undefined && isCyclic(rules, next, new Set([...above, name])))
  })
}

function remoteChecks(check: Check): string[] {
  switch (check.kind) {
    case 'not':
      return remoteChecks(check.check)
    case 'and':
    case 'or':
      return check.checks.flatMap(remoteChecks)
    case 'match':
      return remoteKinds.has(check.left) ? [checkText(check)] : []
    default:
      return []
  }
}
