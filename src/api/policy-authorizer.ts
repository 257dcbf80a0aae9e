import type { Config } from '../config/index.ts'
import type { RequestContext } from '../domain/context.ts'
import { HTTPForbidden } from '../errors/base.ts'
import { ConfigInvalid } from '../errors/general.ts'
import { checkText } from '../lib/oslo-policy/check.ts'
import { Enforcer, PolicyNotAuthorized } from '../lib/oslo-policy/enforcer.ts'
import { PolicyFileError, PolicyFiles, type PolicyPlaces } from '../lib/oslo-policy/policy-files.ts'
import { ruleProblems, type FileRules } from '../lib/oslo-policy/rules.ts'
import { UncheckableRule } from '../lib/oslo-policy/template.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { policyCredentials } from './auth/credentials.ts'
import type { Authorizer, PolicyTarget } from './authorizer.ts'
import { policies } from './policies.ts'

export interface PolicyParts {
  readonly config: Pick<Config, 'DEFAULT' | 'oslo_policy'>
  readonly log: Logger
  /** finds `policy_file` and `policy_dirs` beside the configuration */
  readonly find: PolicyPlaces['find']
}

/**
 * The rules of this API and of the operator's policy files. Files are looked at once per request (`refresh`); asking a rule is
 * plain computation. Rules are enforced with Keystone only; without it they decide just whether secrets are shown.
 */
export class PolicyAuthorizer implements Authorizer {
  readonly #parts: PolicyParts
  readonly #files: PolicyFiles
  readonly #enforced: boolean
  #enforcer: Enforcer

  private constructor(parts: PolicyParts) {
    this.#parts = parts
    this.#enforced = parts.config.DEFAULT.auth_strategy === 'keystone'
    const { policy_file, policy_dirs } = parts.config.oslo_policy
    this.#files = new PolicyFiles({ file: policy_file, dirs: policy_dirs, find: parts.find })
    this.#enforcer = this.#compiled(new Map())
  }

  /** @throws ConfigInvalid when a policy file is wrong */
  static open(parts: PolicyParts): PolicyAuthorizer {
    const authorizer = new PolicyAuthorizer(parts)
    try {
      authorizer.#look()
    } catch (cause) {
      if (!(cause instanceof PolicyFileError)) throw cause
      throw new ConfigInvalid(cause.message, { cause })
    }
    return authorizer
  }

  /** Takes over what changed in the files. A file that is wrong is told in the log and the rules stay as they were. */
  refresh(): void {
    try {
      this.#look()
    } catch (error) {
      if (!(error instanceof PolicyFileError)) throw error
      this.#parts.log.error(`${error.message} The policy stays as it was.`, { error })
    }
  }

  authorize(context: RequestContext, rule: string, target: PolicyTarget = {}): void {
    if (!this.#enforced) return
    // A rule that only an operator's file has, for a single step, is asked like those of the table.
    this.#ask(context, rule, target, (...asked) =>
      this.knows(rule) ? this.#enforcer.enforce(...asked) : this.#enforcer.authorize(...asked),
    )
  }

  allows(context: RequestContext, rule: string, target: PolicyTarget = {}): boolean {
    return !this.#enforced || this.check(context, rule, target)
  }

  check(context: RequestContext, rule: string, target: PolicyTarget = {}): boolean {
    try {
      return this.#ask(context, rule, target, (...asked) => this.#enforcer.allows(...asked))
    } catch (error) {
      if (error instanceof HTTPForbidden) return false
      throw error
    }
  }

  knows(rule: string): boolean {
    return this.#enforcer.checks.has(rule)
  }

  /** Names of all rules, those of the operator's files included. */
  ruleNames(): string[] {
    return [...this.#enforcer.checks.keys()]
  }

  /** The check of a rule as it counts; empty when there is none. */
  ruleText(rule: string): string {
    const check = this.#enforcer.checks.get(rule)
    return check === undefined ? '' : checkText(check)
  }

  #ask<T>(
    context: RequestContext,
    rule: string,
    target: PolicyTarget,
    ask: (rule: string, target: PolicyTarget, credentials: Readonly<Record<string, unknown>>) => T,
  ): T {
    const credentials = policyCredentials(context, this.#parts.config.DEFAULT)
    try {
      return ask(rule, { ...credentials, ...target }, credentials)
    } catch (cause) {
      if (cause instanceof UncheckableRule) {
        this.#parts.log.error(`Policy rule ${rule} cannot be checked, the request is refused: ${cause.message}`)
      } else if (!(cause instanceof PolicyNotAuthorized)) throw cause
      throw new HTTPForbidden({ resource: rule }, { cause })
    }
  }

  #look(): void {
    const fileRules = this.#files.changed()
    if (fileRules === undefined) return
    this.#enforcer = this.#compiled(fileRules)
    for (const problem of ruleProblems(this.#enforcer.checks)) this.#parts.log.warning(problem)
  }

  #compiled(fileRules: FileRules): Enforcer {
    const { enforce_new_defaults, policy_default_rule } = this.#parts.config.oslo_policy
    return new Enforcer(policies, fileRules, {
      enforceNewDefaults: enforce_new_defaults,
      defaultRule: policy_default_rule,
    })
  }
}
