import { ConfigError, invalidValue } from './errors.ts'
import { parsePythonFloat, parsePythonInt, parsePythonOctal, pythonFloat, pythonText, strip } from './python-text.ts'
import { pythonPattern } from './python-pattern.ts'

/** What a conversion may ask of the rest of the configuration. */
export interface ConversionContext {
  read(group: string, option: string): unknown
}

/** One kind of value: turns text (or a default of the program) into the value, or says what it should be. */
export interface ValueType {
  /** @throws ConfigError ValueError */
  convert(value: unknown, context?: ConversionContext): unknown
  /** what is allowed, as the end of the sentence "it must be …" */
  readonly allowed: string
  /** how the value reads inside another option's text */
  text?(value: unknown): string
}

const isText = (value: unknown): value is string => typeof value === 'string'
const notText = (value: unknown) => new ConfigError('TypeError', `${pythonText(value)} is not a text`)
const words = (choices: Iterable<unknown>) =>
  [...choices].map((choice) => (choice === '' ? "''" : choice === null ? 'unset' : String(choice))).join(', ')

export interface StringRules {
  readonly choices?: readonly (string | null)[]
  /** strips one pair of quotes, and refuses an open one */
  readonly quotes?: boolean
  /** a Python pattern, searched for anywhere in the value */
  readonly regex?: string
  readonly ignoreCase?: boolean
  /** in characters; 0 is no limit */
  readonly maxLength?: number
}

export function stringType(rules: StringRules = {}): ValueType {
  const { choices, quotes = false, regex, ignoreCase = false, maxLength = 0 } = rules
  if (choices !== undefined && choices.length > 0 && regex !== undefined && regex !== '') {
    throw new ConfigError('ValueError', 'choices and regex exclude each other')
  }
  const pattern = regex === undefined || regex === '' ? undefined : pythonPattern(regex, ignoreCase)
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  const known = choices && new Set(choices.map((choice) => (choice === null ? null : fold(choice))))
  const allowed =
    choices !== undefined
      ? `one of ${words(choices)}`
      : pattern !== undefined
        ? `a text that matches ${regex}`
        : maxLength > 0
          ? `a text of at most ${maxLength} characters`
          : 'a text'
  return {
    allowed,
    convert(given) {
      let value = pythonText(given)
      if (quotes && (value.startsWith('"') || value.startsWith("'"))) {
        if (value.length === 1 || !value.endsWith(value[0]!)) throw invalidValue('a quote is not closed')
        value = value.slice(1, -1)
      }
      if (maxLength > 0 && Array.from(value).length > maxLength) throw invalidValue(`it must be ${allowed}`)
      if (pattern !== undefined && !pattern.test(value)) throw invalidValue(`it must be ${allowed}`)
      if (known !== undefined && !known.has(fold(value))) throw invalidValue(`it must be ${allowed}`)
      return value
    },
  }
}

export const booleanType: ValueType = {
  allowed: 'one of true, 1, on, yes, false, 0, off, no',
  convert(value) {
    if (typeof value === 'boolean') return value
    if (!isText(value)) throw notText(value)
    const word = value.toLowerCase()
    if (['true', '1', 'on', 'yes'].includes(word)) return true
    if (['false', '0', 'off', 'no'].includes(word)) return false
    throw invalidValue(`it must be ${this.allowed}`)
  },
}

export interface NumberRules {
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly choices?: readonly number[] | undefined
}

function numberType(rules: NumberRules, noun: string, parse: (text: string) => number | undefined): ValueType {
  const { min, max, choices } = rules
  if (min !== undefined && max !== undefined && max < min) {
    throw new ConfigError('ValueError', `the maximum ${max} is below the minimum ${min}`)
  }
  if (choices?.some((choice) => (min !== undefined && choice < min) || (max !== undefined && choice > max)) === true) {
    throw new ConfigError('ValueError', `a choice of ${choices.join(', ')} is out of bounds`)
  }
  const bounds =
    min !== undefined && max !== undefined
      ? ` from ${min} to ${max}`
      : min !== undefined
        ? ` of at least ${min}`
        : max !== undefined
          ? ` of at most ${max}`
          : ''
  const allowed = choices === undefined ? noun + bounds : `one of ${choices.join(', ')}`
  return {
    allowed,
    /** An empty text means that the option is not set. */
    convert(given) {
      const text = pythonText(given)
      if (strip(text) === '') return null
      const value = parse(text)
      if (value === undefined) throw invalidValue(`it must be ${allowed}`)
      const fits =
        choices === undefined
          ? !((min !== undefined && value < min) || (max !== undefined && value > max))
          : choices.includes(value)
      if (!fits) throw invalidValue(`it must be ${allowed}`)
      return value
    },
  }
}

export const integerType = (rules: NumberRules = {}): ValueType => numberType(rules, 'a whole number', parsePythonInt)
export const floatType = (rules: NumberRules = {}): ValueType => ({
  ...numberType(rules, 'a number', parsePythonFloat),
  text: (value) => (typeof value === 'number' ? pythonFloat(value) : pythonText(value)),
})
export function portType({ min = 0, max = 65535, choices }: NumberRules = {}): ValueType {
  if (min < 0 || max > 65535) throw new ConfigError('ValueError', 'a port lies between 0 and 65535')
  return numberType({ min, max, choices }, 'a port number', parsePythonInt)
}

/** A file mode: octal digits in the file, a number in the program. */
export const octalType: ValueType = {
  allowed: 'a file mode in octal digits, such as 660',
  convert(value) {
    if (typeof value === 'number') return value
    const mode = parsePythonOctal(pythonText(value))
    if (mode === undefined) throw invalidValue(`it must be ${this.allowed}`)
    return mode
  },
}

export interface ListRules {
  readonly item?: ValueType
  /** the text stands between `[` and `]` */
  readonly bounds?: boolean
  readonly minLength?: number
}

/** Splits at commas; a part that its item type refuses is tried again with the next part joined to it. */
export function listType({ item = stringType(), bounds = false, minLength = 0 }: ListRules = {}): ValueType {
  const allowed = `a list with commas${bounds ? ' between [ and ]' : ''}, each item ${item.allowed}`
  return {
    allowed,
    convert(given, context) {
      if (Array.isArray(given)) return given.map((entry) => item.convert(entry, context))
      if (!isText(given)) throw notText(given)
      const inner = within(strip(given).replace(/,+$/, ''), bounds, '[', ']')
      const result = inner === '' ? [] : greedy(inner.split(','), (part) => item.convert(strip(part), context))
      if (result.length < minLength) throw invalidValue(`it needs at least ${minLength} items`)
      return result
    },
  }
}

export interface DictRules {
  readonly value?: ValueType
  /** the text stands between `{` and `}` */
  readonly bounds?: boolean
  readonly separator?: string
  readonly minLength?: number
}

export function dictType({
  value = stringType(),
  bounds = false,
  separator = ':',
  minLength = 0,
}: DictRules = {}): ValueType {
  if (separator === ',') throw new ConfigError('TypeError', 'a comma cannot stand between key and value')
  const allowed = `pairs such as name${separator}value with commas${bounds ? ' between { and }' : ''}`
  return {
    allowed,
    convert(given, context) {
      if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
      if (!isText(given)) throw notText(given)
      const inner = within(strip(given), bounds, '{', '}')
      const result: Record<string, unknown> = {}
      if (inner !== '') {
        const pairs = greedy(inner.split(','), (pair): [string, unknown] => {
          const at = pair.indexOf(separator)
          if (at < 0) throw invalidValue(`it must be ${allowed}`)
          return [strip(pair.slice(0, at)), value.convert(strip(pair.slice(at + separator.length)), context)]
        })
        for (const [key, entry] of pairs) {
          if (key === '') throw invalidValue('a pair has no name before the separator')
          if (Object.hasOwn(result, key)) throw invalidValue(`the name ${key} stands twice`)
          Object.defineProperty(result, key, { value: entry, enumerable: true, writable: true, configurable: true })
        }
      }
      if (Object.keys(result).length < minLength) throw invalidValue(`it needs at least ${minLength} pairs`)
      return result
    },
  }
}

function within(text: string, bounds: boolean, opening: string, closing: string): string {
  if (!bounds) return text
  if (!text.startsWith(opening)) throw invalidValue(`it must start with ${opening}`)
  if (!text.endsWith(closing)) throw invalidValue(`it must end with ${closing}`)
  return text.slice(1, -1)
}

/** Takes parts one by one; a refused part grows by the next one until it fits or nothing is left. */
function greedy<T>(parts: readonly string[], convert: (part: string) => T): T[] {
  const result: T[] = []
  for (let index = 0; index < parts.length; index++) {
    let part = parts[index]!
    for (;;) {
      try {
        result.push(convert(part))
        break
      } catch (error) {
        if (!(error instanceof ConfigError && error.kind === 'ValueError') || index + 1 >= parts.length) throw error
        index += 1
        part += `,${parts[index]!}`
      }
    }
  }
  return result
}

/** A run of whole numbers as `first-last`; `step` is -1 when it counts down. `stop` is the first number not in it. */
export interface NumberRange {
  readonly start: number
  readonly stop: number
  readonly step: 1 | -1
}

export function rangeType({
  min,
  max,
  inclusive = true,
}: { min?: number; max?: number; inclusive?: boolean } = {}): ValueType {
  const lower = integerType({ min })
  const upper = integerType({ max })
  const allowed = 'a range such as 1-5'
  return {
    allowed,
    convert(given): NumberRange {
      const match = /^(0|-?[1-9][0-9]*)(?:-(0|-?[1-9][0-9]*))?\n?$/.exec(pythonText(given))
      if (match === null) throw invalidValue(`it must be ${allowed}`)
      const start = Number(match[1])
      const last = match[2] === undefined ? start : Number(match[2])
      const step = start < last ? 1 : -1
      lower.convert(Math.min(start, last))
      upper.convert(Math.max(start, last))
      return { start, stop: inclusive ? last + step : last, step }
    },
  }
}

/** `<start>:<end>`, two ports; a half-open range as Python's `range(start, end)`. */
export const portRangeType: ValueType = {
  allowed: 'a range of ports such as 10000:20000',
  convert(given): NumberRange {
    if (!isText(given)) throw notText(given)
    const parts = given.split(':')
    const [start, stop] = parts.map(parsePythonInt)
    if (parts.length !== 2 || start === undefined || stop === undefined || start > stop || start < 0 || stop > 65535) {
      throw invalidValue(`it must be ${this.allowed}`)
    }
    return { start, stop, step: 1 }
  },
}
