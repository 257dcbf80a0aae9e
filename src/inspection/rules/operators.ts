import ipaddr from 'ipaddr.js'
import { RE2JS, RE2JSException } from 're2js'
import { InspectionRuleExecutionFailure, RuleConditionCheckFailure } from '../../errors/index.ts'
import { str } from '../../lib/python/text.ts'
import { contains, equal, less } from '../../lib/python/values.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Signature } from './arguments.ts'
import { translatePattern } from './patterns.ts'

export interface Operator extends Signature {
  readonly check: (args: JsonDict) => boolean
}

/** An operator that must hold between each value and the next. */
function chained(name: string, holds: (a: unknown, b: unknown) => boolean): Operator {
  return {
    required: ['values'],
    optional: ['force_strings'],
    formatted: ['values'],
    check({ values, force_strings: forceStrings }) {
      if (!Array.isArray(values))
        throw new RuleConditionCheckFailure({ reason: `"${name}" compares a list, not ${str(values)}` })
      const compared: unknown[] = forceStrings ? values.map(str) : values
      return compared.every((value, i) => i === 0 || holds(compared[i - 1], value))
    },
  }
}

const single = (check: (value: unknown) => boolean): Operator => ({
  required: ['value'],
  formatted: ['value'],
  check: ({ value }) => check(value),
})

const isTruth = (words: readonly string[], wanted: boolean) => (value: unknown) => {
  if (typeof value === 'boolean' || typeof value === 'number') return Boolean(value) === wanted
  return typeof value === 'string' && words.includes(value.toLowerCase())
}

type Address = ReturnType<typeof ipaddr.parse>

/** An address as text, or as a number. @throws Error when it is none */
function addressOf(value: unknown): Address {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff)
    return new ipaddr.IPv4([24, 16, 8, 0].map((shift) => (value >>> shift) & 255))
  const text = String(value)
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text))
    throw new Error(`${text} is no IP address`)
  return ipaddr.parse(text)
}

function networkOf(value: unknown): [Address, number] {
  try {
    const [text = '', prefix] = String(value).split('/')
    const address = addressOf(text)
    return [address, prefix === undefined ? (address.kind() === 'ipv4' ? 32 : 128) : ipaddr.parseCIDR(String(value))[1]]
  } catch (cause) {
    throw new InspectionRuleExecutionFailure(`"in-net": ${str(value)} is no network.`, { cause })
  }
}

/** A pattern for the linear-time engine. @throws InspectionRuleExecutionFailure for what it does not take */
function patternOf(regex: unknown): RE2JS {
  try {
    return RE2JS.compile(translatePattern(String(regex)))
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause
    throw new InspectionRuleExecutionFailure(
      `"${String(regex)}" cannot be used as a regular expression: ${cause.message}. Back references and look-around are not supported.`,
      { cause },
    )
  }
}

/** `$` also holds before a newline that ends the text. */
const variants = (text: string) => (text.endsWith('\n') ? [text, text.slice(0, -1)] : [text])

/** Operators of conditions by name. `!` before a name turns the result round. */
export const operators: Readonly<Record<string, Operator>> = {
  eq: chained('eq', equal),
  lt: chained('lt', less),
  gt: chained('gt', (a, b) => less(b, a)),
  'is-empty': single((value) => ['', 'None', '[]', '{}'].includes(str(value))),
  'in-net': {
    required: ['address', 'subnet'],
    formatted: ['address', 'subnet'],
    check({ address, subnet }) {
      const network = networkOf(subnet)
      const member = addressOf(address)
      return member.kind() === network[0].kind() && member.match(network)
    },
  },
  matches: {
    required: ['value', 'regex'],
    formatted: ['value'],
    check({ value, regex }) {
      if (regex === '') throw new Error('"matches" needs a pattern that is not empty')
      const pattern = patternOf(regex)
      return variants(str(value)).some((text) => pattern.matches(text))
    },
  },
  contains: {
    required: ['value', 'regex'],
    formatted: ['value'],
    check({ value, regex }) {
      const pattern = patternOf(regex)
      return variants(str(value)).some((text) => pattern.matcher(text).find())
    },
  },
  'one-of': {
    required: ['value'],
    optional: ['values'],
    formatted: ['value'],
    check: ({ value, values = [] }) => contains(values, value),
  },
  'is-none': single((value) => value === null),
  'is-true': single(isTruth(['yes', 'true'], true)),
  'is-false': single((value) => value === null || isTruth(['no', 'false'], false)(value)),
}

/** Takes `!` off an operator. */
export function parseOperator(op: string): { name: string; inverted: boolean } {
  const text = op.trim()
  return { name: text.replace(/^!/, '').trim(), inverted: text.startsWith('!') }
}
