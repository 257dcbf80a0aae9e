import { booleanFrom } from './booleans.ts'
import { asciiDigits, specificationMatches, specificationTokens } from './specs-matcher.ts'

/*
 * Root device hints: which of a machine's disks is meant. A hint is a comparison (`specs-matcher.ts`); without an operator
 * it must be equal. The conductor checks hints and uses them in inspection; the agent has its own reading of them, which
 * knows the transport and takes several serial numbers per disk.
 */

const hintKinds = {
  size: 'integer',
  model: 'text',
  wwn: 'text',
  serial: 'text',
  vendor: 'text',
  wwn_with_extension: 'text',
  wwn_vendor_extension: 'text',
  name: 'text',
  rotational: 'boolean',
  hctl: 'text',
  by_path: 'text',
} as const
const agentHintKinds = { ...hintKinds, tran: 'text' } as const

type HintKind = 'integer' | 'text' | 'boolean'
export type HintReader = 'ironic' | 'agent'
/** Hint to its comparison, spaces and special characters percent-encoded; `rotational` is a boolean. */
export type RootDeviceHints = Record<string, string | boolean>
/** A disk as the inventory lists it; `size` in bytes. */
export type Device = Readonly<Record<string, unknown>>

/** A hint that cannot be understood, or cannot be compared with what a disk says. */
export class RootDeviceHintError extends Error {
  override readonly name = 'RootDeviceHintError'
}

const kindsOf = (reader: HintReader): Readonly<Record<string, HintKind>> =>
  reader === 'agent' ? agentHintKinds : hintKinds

/** As Python's `str()` writes what JSON can hold; only scalars matter. */
function written(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** RFC 3986 with `/` kept. */
const quoted = (text: string) =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')

function operatorAndValues(expression: unknown, hint: string): { operator: string; values: string[] } {
  const text = written(expression).trim().toLowerCase()
  if (text === '') throw new RootDeviceHintError(`hint ${hint} is empty`)
  const tokens = specificationTokens(text)
  if (tokens === undefined) throw new RootDeviceHintError(`hint ${hint} ("${text}") has an operator without a value`)
  if (tokens.length === 1) return { operator: '', values: [text] }
  const operator = tokens[0]!
  const values = text.split(operator).filter((part) => part !== '')
  return { operator, values: values.map((part) => part.trim()) }
}

function normalized(expression: unknown, hint: string): string {
  const { operator, values } = operatorAndValues(expression, hint)
  return (operator + values.map((value) => ` ${quoted(value)} `).join(operator)).trim()
}

function checkInteger(expression: unknown, hint: string): void {
  for (const written of operatorAndValues(expression, hint).values) {
    const value = asciiDigits(written)
    if (!/^[+-]?\d+(_\d+)*$/.test(value)) throw new RootDeviceHintError(`hint ${hint} ("${value}") is not an integer`)
    if (Number(value.replaceAll('_', '')) <= 0) throw new RootDeviceHintError(`hint ${hint} must be greater than 0`)
  }
}

function parsedHint(reader: HintReader, hint: string, kind: HintKind, expression: unknown): string | boolean {
  const { operator } = operatorAndValues(expression, hint)
  if (kind === 'boolean') {
    const value = booleanFrom(expression)
    if (value === undefined) throw new RootDeviceHintError(`hint ${hint} must be true or false`)
    return value
  }
  let text: string
  if (kind === 'text') {
    if (typeof expression !== 'string') throw new RootDeviceHintError(`hint ${hint} must be text`)
    text = normalized(expression, hint)
  } else {
    if (operator !== '<range-in>' || reader === 'agent') checkInteger(expression, hint)
    text = written(expression)
  }
  const tokens = specificationTokens(text)
  if (tokens === undefined) throw new RootDeviceHintError(`hint ${hint} ("${text}") has an operator without a value`)
  if (tokens.length > 1) return text
  return `${kind === 'text' ? 's==' : '=='} ${text}`
}

/**
 * Hints checked and brought into one form, each with its operator.
 * @returns null when there are none
 * @throws RootDeviceHintError
 */
export function parseRootDeviceHints(
  hints: Readonly<Record<string, unknown>> | null | undefined,
  reader: HintReader = 'ironic',
): RootDeviceHints | null {
  if (hints === null || hints === undefined || Object.keys(hints).length === 0) return null
  const kinds = kindsOf(reader)
  const unknown = Object.keys(hints).filter((hint) => !Object.hasOwn(kinds, hint))
  if (unknown.length > 0) {
    throw new RootDeviceHintError(
      `there is no hint ${unknown.join(', ')}; the hints are ${Object.keys(kinds).join(', ')}`,
    )
  }
  const parsed: RootDeviceHints = {}
  for (const [hint, expression] of Object.entries(hints)) {
    parsed[hint] = parsedHint(reader, hint, kinds[hint]!, expression)
  }
  return parsed
}

const gibibyte = 1024 ** 3

/** Does what the disk says of itself fit one hint? A disk that says nothing usable does not. */
function fits(reader: HintReader, kind: HintKind, hint: string, wanted: string | boolean, value: unknown): boolean {
  if (kind === 'boolean') return booleanFrom(value) === wanted
  if (kind === 'integer') {
    if (typeof value !== 'number') throw new RootDeviceHintError(`a disk has no ${hint}`)
    const size = value / gibibyte
    return specificationMatches(size, String(wanted))
  }
  if (reader === 'agent' && Array.isArray(value)) {
    return value.some((one) => one !== null && one !== '' && fits(reader, kind, hint, wanted, one))
  }
  if (written(value).trim() === '') return false
  return specificationMatches(normalized(value, hint), String(wanted))
}

/**
 * The disks that fit every hint, in their order.
 * @throws RootDeviceHintError, SpecificationError
 */
export function findDevicesByHints<D extends Device>(
  devices: readonly D[],
  hints: Readonly<Record<string, unknown>>,
  reader: HintReader = 'ironic',
): D[] {
  const parsed = parseRootDeviceHints(hints, reader)
  if (parsed === null) throw new RootDeviceHintError('there are no hints to choose a disk by')
  const kinds = kindsOf(reader)
  if (devices.some((device) => typeof device['name'] !== 'string')) {
    throw new RootDeviceHintError('a disk has no name')
  }
  return devices.filter((device) =>
    Object.entries(parsed).every(([hint, wanted]) => fits(reader, kinds[hint]!, hint, wanted, device[hint])),
  )
}

/** The first disk that fits every hint, or null. */
export function matchRootDeviceHints<D extends Device>(
  devices: readonly D[],
  hints: Readonly<Record<string, unknown>>,
  reader: HintReader = 'ironic',
): D | null {
  return findDevicesByHints(devices, hints, reader)[0] ?? null
}
