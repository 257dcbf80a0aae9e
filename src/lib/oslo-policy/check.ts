/** The tree that a rule's text is parsed to. */
export type Check =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'not'; readonly check: Check }
  | { readonly kind: 'and' | 'or'; readonly checks: readonly Check[] }
  /** `left:right`, such as `role:admin`, `rule:owner`, `project_id:%(node.owner)s`, `None:%(owner)s`. */
  | { readonly kind: 'match'; readonly left: string; readonly right: string }

export const always: Check = { kind: 'true' }
export const never: Check = { kind: 'false' }

/** What one of several checks says; a single one stands for itself. */
export const anyOf = (checks: readonly Check[]): Check => joined('or', checks)
export const allOf = (checks: readonly Check[]): Check => joined('and', checks)

const joined = (kind: 'and' | 'or', checks: readonly Check[]): Check =>
  checks.length === 1 && checks[0] !== undefined ? checks[0] : { kind, checks }

/** The text of a check as oslo.policy prints it; two texts are equal where two rules are. */
export function checkText(check: Check): string {
  switch (check.kind) {
    case 'true':
      return '@'
    case 'false':
      return '!'
    case 'not':
      return `not ${checkText(check.check)}`
    case 'match':
      return `${check.left}:${check.right}`
    default:
      return `(${check.checks.map(checkText).join(` ${check.kind} `)})`
  }
}

/** The names after `rule:` anywhere in the tree. */
export function referredRules(check: Check): string[] {
  switch (check.kind) {
    case 'not':
      return referredRules(check.check)
    case 'and':
    case 'or':
      return check.checks.flatMap(referredRules)
    case 'match':
      return check.left === 'rule' ? [check.right] : []
    default:
      return []
  }
}
