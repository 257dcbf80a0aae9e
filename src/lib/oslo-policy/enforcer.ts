import type { Check } from './check.ts'
import { compileCheck, type Credentials, type RuleFinder, type Test } from './compile.ts'
import { effectiveRules, type FileRules, type RuleDefault } from './rules.ts'
import { UncheckableRule, type Target } from './template.ts'

/** The rule says no. */
export class PolicyNotAuthorized extends Error {
  override readonly name: string = 'PolicyNotAuthorized'
  readonly rule: string
  constructor(rule: string, why = `${rule} is not allowed by policy.`) {
    super(why)
    this.rule = rule
  }
}

/** The caller's token is of a scope (system, domain, project) that the rule does not take. */
export class InvalidScope extends PolicyNotAuthorized {
  override readonly name = 'InvalidScope'
  constructor(rule: string, scopes: readonly string[], scope: string) {
    super(rule, `${rule} takes tokens of scope ${scopes.join(' or ')}; this one is of scope ${scope}.`)
  }
}

/** The service asked for a rule that it never declared. */
export class PolicyNotRegistered extends Error {
  override readonly name = 'PolicyNotRegistered'
  constructor(rule: string) {
    super(`Policy rule "${rule}" is not registered.`)
  }
}

export interface EnforcerOptions {
  readonly enforceNewDefaults: boolean
  /** The rule that stands for every rule that is not there; `policy_default_rule`. */
  readonly defaultRule: string
}

/** Rules refer to rules; more than this many deep is a circle. */
const deepest = 100

/** The scope of a token, as oslo.policy reads it from the credentials. */
export const scopeOf = (credentials: Credentials): 'system' | 'domain' | 'project' => {
  if (credentials['system_scope'] || credentials['system']) return 'system'
  return credentials['domain_id'] ? 'domain' : 'project'
}

/** A compiled set of rules. It never changes: new files make a new one. */
export class Enforcer {
  readonly checks: ReadonlyMap<string, Check>
  readonly #defaults: ReadonlyMap<string, RuleDefault>
  readonly #tests = new Map<string, Test>()
  readonly #find: RuleFinder
  #depth = 0

  constructor(defaults: readonly RuleDefault[], fileRules: FileRules, options: EnforcerOptions) {
    this.checks = effectiveRules(defaults, fileRules, options)
    this.#defaults = new Map(defaults.map((rule) => [rule.name, rule]))
    this.#find = (name) => this.#tests.get(name) ?? this.#tests.get(options.defaultRule)
    const followed: RuleFinder = (name) => {
      const test = this.#find(name)
      return test && ((target, credentials) => this.#follow(name, test, target, credentials))
    }
    for (const [name, check] of this.checks) this.#tests.set(name, compileCheck(check, followed))
  }

  /** Whether the rule allows it. A rule that is not there is the default rule, or never met. @throws UncheckableRule */
  allows(rule: string, target: Target, credentials: Credentials): boolean {
    const scopes = this.#scopes(rule)
    if (scopes !== undefined && !scopes.includes(scopeOf(credentials))) return false
    return this.#find(rule)?.(target, withSystem(credentials)) ?? false
  }

  /** @throws PolicyNotAuthorized, InvalidScope, UncheckableRule */
  enforce(rule: string, target: Target, credentials: Credentials): void {
    if (this.allows(rule, target, credentials)) return
    const scopes = this.#scopes(rule)
    const scope = scopeOf(credentials)
    if (scopes !== undefined && !scopes.includes(scope)) throw new InvalidScope(rule, scopes, scope)
    throw new PolicyNotAuthorized(rule)
  }

  /** As `enforce`, for a rule that the service declared. @throws PolicyNotRegistered besides */
  authorize(rule: string, target: Target, credentials: Credentials): void {
    if (!this.#defaults.has(rule)) throw new PolicyNotRegistered(rule)
    this.enforce(rule, target, credentials)
  }

  #scopes(rule: string): readonly string[] | undefined {
    const scopes = this.#defaults.get(rule)?.scope_types
    // Scopes of a rule that is not effective (an unknown name answered by the default rule) do not count.
    return scopes === undefined || scopes.length === 0 ? undefined : scopes
  }

  #follow(name: string, test: Test, target: Target, credentials: Credentials): boolean {
    if (this.#depth >= deepest)
      throw new UncheckableRule(`Policy rule "${name}" refers to itself; correct the policy file.`)
    this.#depth += 1
    try {
      return test(target, credentials)
    } finally {
      this.#depth -= 1
    }
  }
}

/** Older rules ask for `system:all`; oslo.policy serves them from `system_scope`. */
function withSystem(credentials: Credentials): Credentials {
  const scope = credentials['system_scope']
  return !scope || credentials['system'] === scope ? credentials : { ...credentials, system: scope }
}
