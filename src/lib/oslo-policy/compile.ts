import { str } from '../python/text.ts'
import type { Check } from './check.ts'
import { leftSide } from './literal.ts'
import { compileTemplate, UncheckableRule, type Target } from './template.ts'

/** Who asks: what the service tells of the caller. `roles` is a list of names; letter case does not matter in it. */
export type Credentials = Readonly<Record<string, unknown>>

/** A compiled check. @throws UncheckableRule */
export type Test = (target: Target, credentials: Credentials) => boolean

/** Finds the test of another rule at the time it is asked, so that rules may refer to one another in any order. */
export type RuleFinder = (name: string) => Test | undefined

/** `http:` asks another server in the middle of a check; that is refused rather than left out in silence. */
export const remoteKinds: ReadonlySet<string> = new Set(['http', 'https'])

/** Turns a tree of checks into one function; everything that can be known before a request is worked out here. */
export function compileCheck(check: Check, ruleNamed: RuleFinder): Test {
  switch (check.kind) {
    case 'true':
      return () => true
    case 'false':
      return () => false
    case 'not': {
      const inner = compileCheck(check.check, ruleNamed)
      return (target, credentials) => !inner(target, credentials)
    }
    case 'and': {
      const tests = check.checks.map((inner) => compileCheck(inner, ruleNamed))
      return (target, credentials) => tests.every((inner) => inner(target, credentials))
    }
    case 'or': {
      const tests = check.checks.map((inner) => compileCheck(inner, ruleNamed))
      return (target, credentials) => tests.some((inner) => inner(target, credentials))
    }
    default:
      return compileMatch(check.left, check.right, ruleNamed)
  }
}

function compileMatch(left: string, right: string, ruleNamed: RuleFinder): Test {
  if (left === 'rule') return (target, credentials) => ruleNamed(right)?.(target, credentials) ?? false
  if (left === 'role') return roleTest(right)
  if (remoteKinds.has(left)) {
    return () => {
      throw new UncheckableRule(
        `"${left}:${right}" would ask another server; remote checks are not done. Write the rule out.`,
      )
    }
  }
  return credentialTest(left, right)
}

function roleTest(right: string): Test {
  const template = compileTemplate(right)
  return (target, { roles }) => {
    const role = template(target)?.toLowerCase()
    if (role === undefined || roles === undefined) return false
    if (!Array.isArray(roles)) throw new UncheckableRule(`"role:${right}" needs the list of the caller's roles.`)
    return roles.some((one) => typeof one === 'string' && one.toLowerCase() === role)
  }
}

function credentialTest(left: string, right: string): Test {
  const template = compileTemplate(right)
  const side = leftSide(left)
  return (target, credentials) => {
    const wanted = template(target)
    if (wanted === undefined) return false
    if (side.kind === 'value') return side.text === wanted
    if (side.kind === 'path') return found(credentials, side.path, 0, wanted)
    throw new UncheckableRule(
      `"${left}:${right}": what stands before the colon is neither a value nor a credential's name.`,
    )
  }
}

/** Follows the path into the credentials; of a list any member may match. */
function found(value: unknown, path: readonly string[], at: number, wanted: string): boolean {
  const key = path[at]
  if (key === undefined) return str(value) === wanted
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UncheckableRule(
      `The credential "${path.join('.')}" cannot be followed: there is nothing below its parts.`,
    )
  }
  if (!Object.hasOwn(value, key)) return false
  const next = (value as Record<string, unknown>)[key]
  return Array.isArray(next)
    ? next.some((member) => found(member, path, at + 1, wanted))
    : found(next, path, at + 1, wanted)
}
