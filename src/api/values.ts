/**
 * What a parameter or a field may be: a reader that takes what came over the wire and gives the value or refuses it, and the
 * JSON Schema that says the same in the OpenAPI document.
 */
import { InvalidParameterValue } from '../errors/base.ts'
import { booleanWords, readBoolean } from '../lib/text/booleans.ts'
import { hostAndPort, isLogicalName, normalMac } from '../lib/text/names.ts'
import { isUuidLike } from '../lib/text/uuid.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/** How a value is stored in a column, and so how it is written into an answer. */
export type Stored = 'text' | 'bool' | 'int' | 'time' | 'dict' | 'list'

export interface Value<T> {
  /** @throws InvalidParameterValue naming the parameter */
  read(name: string, value: unknown): T
  readonly schema: JsonSchema
  readonly stored: Stored
}

/** A value that came over the wire, short enough for a sentence. */
export const shortly = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 128 ? `${text.slice(0, 125)}...` : text
}

export const refuse = (name: string, expected: string, value: unknown): never => {
  throw new InvalidParameterValue(`Expected ${expected} for ${name}: ${shortly(value)}`)
}

interface TextRules {
  readonly min?: number
  readonly max?: number
  readonly pattern?: RegExp
  readonly oneOf?: readonly string[]
}

/** Lengths count code points, as JSON Schema and Python do. */
const lengthOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

export function text(rules: TextRules = {}): Value<string> {
  const { min = 0, max = Infinity, pattern, oneOf } = rules
  return {
    stored: 'text',
    schema: {
      type: 'string',
      ...(rules.min === undefined ? {} : { minLength: min }),
      ...(rules.max === undefined ? {} : { maxLength: max }),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
      ...(oneOf === undefined ? {} : { enum: oneOf }),
    },
    read(name, value) {
      if (typeof value !== 'string') return refuse(name, 'string', value)
      if (lengthOf(value) < min) return refuse(name, `at least ${min} characters`, value)
      if (lengthOf(value) > max) return refuse(name, `at most ${max} characters`, value)
      if (pattern !== undefined && !pattern.test(value)) return refuse(name, `a text like ${pattern.source}`, value)
      if (oneOf !== undefined && !oneOf.includes(value)) return refuse(name, `one of ${oneOf.join(', ')}`, value)
      return value
    },
  }
}
export const Text = text()

/** True, false, or one of the words that oslo takes for them. */
export const Flag: Value<boolean> = {
  stored: 'bool',
  schema: { type: ['boolean', 'string'] },
  read(name, value) {
    const flag = readBoolean(value)
    return flag ?? refuse(name, `one of ${booleanWords.join(', ')}`, value)
  },
}
/** The same in a body, where a number is refused. */
export const BodyFlag: Value<boolean> = {
  ...Flag,
  read: (name, value) =>
    typeof value === 'boolean' || typeof value === 'string' ? Flag.read(name, value) : refuse(name, 'boolean', value),
}
export const StrictFlag: Value<boolean> = {
  stored: 'bool',
  schema: { type: 'boolean' },
  read: (name, value) => (typeof value === 'boolean' ? value : refuse(name, 'boolean', value)),
}

export const Uuid: Value<string> = {
  stored: 'text',
  schema: { type: 'string', format: 'uuid' },
  read: (name, value) => (isUuidLike(value) ? value : refuse(name, 'UUID', value)),
}
export const Name: Value<string> = {
  stored: 'text',
  schema: { type: 'string', maxLength: 255, pattern: '^[A-Za-z0-9\\-._~]+$' },
  read: (name, value) => (isLogicalName(value) ? value : refuse(name, 'name', value)),
}
export const UuidOrName: Value<string> = {
  stored: 'text',
  schema: { type: 'string', minLength: 1 },
  read: (name, value) => (isLogicalName(value) || isUuidLike(value) ? value : refuse(name, 'UUID or name', value)),
}
export const MacAddress: Value<string> = {
  stored: 'text',
  schema: { type: 'string', format: 'mac-address' },
  read: (name, value) => normalMac(value) ?? refuse(name, 'valid MAC address', value),
}
export const HostPort: Value<string> = {
  stored: 'text',
  schema: { type: 'string' },
  read: (name, value) =>
    typeof value === 'string' && hostAndPort(value) !== undefined ? value : refuse(name, 'host or host:port', value),
}

const integerText = /^\s*[+-]?\p{Nd}+(_\p{Nd}+)*\s*$/u
const beyondBasicPlane = /[\u{10000}-\u{10ffff}]/u

/** Digits of every script stand in blocks of ten; beyond the basic plane the blocks touch, so those are refused. */
function asciiDigit(digit: string): string {
  let zero = digit.codePointAt(0)!
  const value = zero
  while (value - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--
  return String(value - zero)
}

/** A number, or a text of decimal digits as Python's `int` reads it. */
export const Integer: Value<number> = {
  stored: 'int',
  schema: { type: 'integer' },
  read(name, value) {
    if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : refuse(name, 'an integer', value)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value !== 'string' || !integerText.test(value) || beyondBasicPlane.test(value)) {
      return refuse(name, 'an integer', value)
    }
    return Number(value.replaceAll('_', '').replaceAll(/\p{Nd}/gu, asciiDigit))
  },
}

/** A comma-separated or repeated list: each item once, in lower case, blanks and empty items dropped. */
export const TextList: Value<string[]> = {
  stored: 'list',
  schema: { type: 'array', items: { type: 'string' } },
  read(name, value) {
    const parts = Array.isArray(value) ? value.map((item) => Text.read(name, item)) : [Text.read(name, value)]
    const items = parts.flatMap((part) => part.split(',')).map((part) => part.trim().toLowerCase())
    return [...new Set(items.filter((item) => item !== ''))]
  },
}

// oxlint-disable-next-line typescript/no-explicit-any -- free-form JSON that users and drivers own
export type Members = Record<string, any>

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

export const Dict: Value<Members> = {
  stored: 'dict',
  schema: { type: 'object' },
  read: (name, value) => (isMembers(value) ? value : refuse(name, 'object', value)),
}
export const List: Value<unknown[]> = {
  stored: 'list',
  schema: { type: 'array' },
  read: (name, value) => (Array.isArray(value) ? value : refuse(name, 'array', value)),
}
export const Anything: Value<unknown> = { stored: 'dict', schema: {}, read: (_name, value) => value }

/** A moment; only ever shown. */
export const Time: Value<Date> = {
  stored: 'time',
  schema: { type: 'string', format: 'date-time' },
  read: (name, value) => refuse(name, 'nothing (it is read-only)', value),
}

export const nullable = <T>(value: Value<T>): Value<T | null> => ({
  ...value,
  schema: {
    ...value.schema,
    ...('type' in value.schema ? { type: [...[value.schema['type']].flat(), 'null'] } : {}),
    ...(Array.isArray(value.schema['enum']) ? { enum: [...(value.schema['enum'] as unknown[]), null] } : {}),
  },
  read: (name, given) => (given === null ? null : value.read(name, given)),
})

/** The same value, with a further look at it that may change or refuse it. */
export const checked = <T>(value: Value<T>, check: (value: T, name: string) => T): Value<T> => ({
  ...value,
  read: (name, given) => check(value.read(name, given), name),
})

export const listOf = <T>(item: Value<T>, { min = 0 }: { min?: number } = {}): Value<T[]> => ({
  stored: 'list',
  schema: { type: 'array', items: item.schema, ...(min > 0 ? { minItems: min } : {}) },
  read(name, value) {
    const items = List.read(name, value)
    if (items.length < min) return refuse(name, `at least ${min} items`, value)
    return items.map((entry, index) => item.read(`${name}[${index}]`, entry))
  },
})

export const anyOf = <T>(...values: readonly Value<T>[]): Value<T> => ({
  stored: values[0]!.stored,
  schema: { anyOf: values.map((value) => value.schema) },
  read(name, given) {
    let first: unknown
    for (const value of values) {
      try {
        return value.read(name, given)
      } catch (error) {
        if (!(error instanceof InvalidParameterValue)) throw error
        first ??= error
      }
    }
    throw first
  },
})

type ReadOf<V> = V extends Value<infer T> ? T : never
type MembersOf<M, O extends keyof M> = { [K in Exclude<keyof M, O>]: ReadOf<M[K]> } & { [K in O]?: ReadOf<M[K]> }
/** An object with these members and no others; a name in `optional` may be missing. */
export function members<
  const M extends Record<string, Value<unknown>>,
  const O extends readonly (keyof M & string)[] = [],
>(table: M, { optional, others = false }: { optional?: O; others?: boolean } = {}): Value<MembersOf<M, O[number]>> {
  const required = Object.keys(table).filter((key) => optional?.includes(key) !== true)
  return {
    stored: 'dict',
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(table).map(([key, value]) => [key, value.schema])),
      required,
      additionalProperties: others,
    },
    read(name, value) {
      const given = Dict.read(name, value)
      for (const key of required) {
        if (!Object.hasOwn(given, key)) throw new InvalidParameterValue(`${name}: '${key}' is a required property`)
      }
      const result: Members = {}
      for (const [key, member] of Object.entries(given)) {
        const known = Object.hasOwn(table, key) ? table[key] : undefined
        if (known !== undefined) result[key] = known.read(`${name}.${key}`, member)
        else if (!others) throw new InvalidParameterValue(`${name}: unexpected property '${key}'`)
        else Object.defineProperty(result, key, { value: member, enumerable: true, writable: true, configurable: true })
      }
      return result as MembersOf<M, O[number]>
    },
  }
}
