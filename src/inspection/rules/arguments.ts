import { InspectionRuleValidationFailure } from '../../errors/index.ts'
import { attributes, format, FormatError } from '../../lib/python/format.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'

/** What an operator or an action takes. `formatted`: arguments in which `{…}` fields are replaced. */
export interface Signature {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  readonly formatted?: readonly string[]
}

/** Names to values that `{…}` fields may refer to: `node`, `inventory`, `plugin_data`, and `item` inside a loop. */
export type RuleContext = Readonly<Record<string, unknown>>

/** The same, for a node's fields: they are reached by `.name` too. */
export const asAttributes = (data: object): object => ({ ...data, [attributes]: true })

/**
 * Arguments by name. A list (the deprecated form) stands for the required ones in order, then the optional ones.
 * @throws InspectionRuleValidationFailure when one is missing or not known
 */
export function namedArguments(op: string, { required, optional = [] }: Signature, args: unknown): JsonDict {
  if (typeof args !== 'object' || args === null)
    throw new InspectionRuleValidationFailure(`The args of "${op}" must be an object or a list.`)
  const known = [...required, ...optional]
  if (Array.isArray(args) && args.length > known.length)
    throw new InspectionRuleValidationFailure(`"${op}" takes ${known.length} arguments: ${known.join(', ')}.`)
  const named: JsonDict = Array.isArray(args)
    ? Object.fromEntries(args.map((value: unknown, i) => [known[i], value]))
    : { ...args }
  const missing = required.filter((name) => !Object.hasOwn(named, name))
  const unexpected = Object.keys(named).filter((name) => !known.includes(name))
  if (missing.length > 0)
    throw new InspectionRuleValidationFailure(`"${op}" lacks the arguments ${missing.join(', ')}.`)
  if (unexpected.length > 0)
    throw new InspectionRuleValidationFailure(`"${op}" does not know the arguments ${unexpected.join(', ')}.`)
  return named
}

/** Text with its fields replaced; as it is when that cannot be done, and null for `is-empty` of what is not there. */
function interpolateText(text: string, context: RuleContext, op: string): string | null {
  try {
    return format(text, context)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return error.missing && op === 'is-empty' ? null : text
  }
}

function interpolate(value: unknown, context: RuleContext, op: string, inLoop: boolean): unknown {
  if (typeof value === 'string') {
    const once = interpolateText(value, context, op)
    // in a loop the item itself may hold fields
    return inLoop && once !== null ? interpolateText(once, context, op) : once
  }
  if (Array.isArray(value))
    return value.map((item: unknown) =>
      typeof item === 'string' ? interpolateText(item, context, op) : interpolate(item, context, op, inLoop),
    )
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      String(interpolateText(key, context, op)),
      interpolate(member, context, op, inLoop),
    ]),
  )
}

/** The arguments for one run; inside a loop all of them may hold fields, otherwise those that the signature names. */
export function boundArguments(op: string, signature: Signature, args: unknown, context: RuleContext): JsonDict {
  const inLoop = 'item' in context
  const formatted = signature.formatted ?? []
  return Object.fromEntries(
    Object.entries(namedArguments(op, signature, args)).map(([name, value]: [string, unknown]) => [
      name,
      inLoop || formatted.includes(name) ? interpolate(value, context, op, inLoop) : value,
    ]),
  )
}
