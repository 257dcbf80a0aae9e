import { repr, str } from '../python/text.ts'

/** What a check is asked about: fields of the object, and what the service adds. */
export type Target = Readonly<Record<string, unknown>>

/** A check that cannot be evaluated with what it was given; whoever asked must refuse. */
export class UncheckableRule extends Error {
  override readonly name = 'UncheckableRule'
}

/** A text with `%(name)s` in it, filled from a target; `undefined` when the target lacks a name. */
export type Template = (target: Target) => string | undefined

type Part = string | ((target: Target) => string | undefined)

/** Python's `%` with a mapping: `%(name)s`, flags, width, precision, conversion. Names may hold balanced parentheses. */
const piece = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([-#0 +]*)(\d*)(?:\.(\d*))?[hlL]?([^]?)/g

interface Shape {
  readonly flags: string
  readonly width: string
  readonly precision: string | undefined
  readonly conversion: string
}

const padded = (text: string, { flags, width }: Shape): string =>
  flags.includes('-') ? text.padEnd(Number(width)) : text.padStart(Number(width))

/** ASCII only, as `ascii()` writes it. */
const ascii = (text: string): string =>
  text.replace(/\P{ASCII}/gu, (char) => {
    const point = char.codePointAt(0) ?? 0
    const digits = point.toString(16)
    if (point < 0x100) return `\\x${digits.padStart(2, '0')}`
    return point < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
  })

const textConversions: Readonly<Record<string, (value: unknown) => string>> = {
  s: str,
  r: repr,
  a: (value) => ascii(repr(value)),
}

const exponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

/** `%g`: as many digits as asked for, without trailing zeros, with an exponent where the number is very large or small. */
function general(size: number, digits: number): string {
  const precision = Math.max(digits, 1)
  const power = size === 0 ? 0 : Number(size.toExponential(precision - 1).split('e')[1])
  const text = power < -4 || power >= precision ? size.toExponential(precision - 1) : size.toPrecision(precision)
  const [number = '', rest] = text.split('e')
  const trimmed = number.includes('.') ? number.replace(/\.?0+$/, '') : number
  return rest === undefined ? trimmed : exponent(`${trimmed}e${rest}`)
}

/** The digits of a number without its sign; undefined for a conversion that does not take it. */
function digits(value: number, { conversion, precision, flags }: Shape): string | undefined {
  const size = Math.abs(value)
  const places = Number(precision ?? 6)
  const whole = Math.trunc(size)
  const filled = (text: string) => text.padStart(Number(precision ?? 0), '0')
  const radix = { o: 8, x: 16, X: 16 }[conversion]
  if (radix !== undefined) {
    if (!Number.isInteger(value)) return undefined
    const text = filled(whole.toString(radix))
    const prefixed = flags.includes('#') ? `0${conversion === 'o' ? 'o' : 'x'}${text}` : text
    return conversion === 'X' ? prefixed.toUpperCase() : prefixed
  }
  switch (conversion) {
    case 'd':
    case 'i':
    case 'u':
      return filled(whole.toString())
    case 'f':
    case 'F':
      return size.toFixed(places)
    case 'e':
    case 'E':
      return exponent(size.toExponential(places))[conversion === 'E' ? 'toUpperCase' : 'toString']()
    case 'g':
    case 'G':
      return general(size, places)[conversion === 'G' ? 'toUpperCase' : 'toString']()
    default:
      return undefined
  }
}

function shapedNumber(value: number, shape: Shape): string | undefined {
  const text = digits(value, shape)
  if (text === undefined) return undefined
  const { flags, width } = shape
  const sign = value < 0 || Object.is(value, -0) ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  const zeros = flags.includes('0') && !flags.includes('-')
  return padded(sign + (zeros ? text.padStart(Number(width) - sign.length, '0') : text), shape)
}

function character(value: unknown): string | undefined {
  if (typeof value === 'string') return Array.from(value).length === 1 ? value : undefined
  const isPoint = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0x10ffff
  return isPoint ? String.fromCodePoint(value) : undefined
}

function shaped(value: unknown, shape: Shape, template: string): string {
  const { conversion, precision } = shape
  const asText = Object.hasOwn(textConversions, conversion) ? textConversions[conversion] : undefined
  if (asText !== undefined) {
    const text = asText(value)
    return padded(precision === undefined ? text : Array.from(text).slice(0, Number(precision)).join(''), shape)
  }
  const number = typeof value === 'boolean' ? Number(value) : value
  const text =
    conversion === 'c' ? character(number) : typeof number === 'number' ? shapedNumber(number, shape) : undefined
  if (text !== undefined) return conversion === 'c' ? padded(text, shape) : text
  throw new UncheckableRule(`"${template}" cannot be filled: a value does not fit %${conversion}; use %(name)s.`)
}

function partOf(template: string, match: RegExpExecArray): Part {
  const [, name, flags = '', width = '', precision, conversion = ''] = match
  if (conversion === '%') return '%'
  const shape: Shape = { flags, width, precision, conversion }
  // Without a name Python takes the whole mapping.
  if (name === undefined) return (target) => shaped(target, shape, template)
  return (target) => (Object.hasOwn(target, name) ? shaped(target[name], shape, template) : undefined)
}

/** Compiles a template once, so that filling it costs a look-up. */
export function compileTemplate(text: string): Template {
  if (!text.includes('%')) return () => text
  const simple = /^%\(([^()]*)\)s$/.exec(text)?.[1]
  if (simple !== undefined) return (target) => (Object.hasOwn(target, simple) ? str(target[simple]) : undefined)
  const parts: Part[] = []
  let from = 0
  let unnamed = 0
  for (const match of text.matchAll(piece)) {
    parts.push(text.slice(from, match.index), partOf(text, match))
    from = match.index + match[0].length
    if (match[1] === undefined && match[5] !== '%') unnamed += 1
    if (match[5] === '' || unnamed > 1) {
      return () => {
        throw new UncheckableRule(`"${text}" is no template: write %(name)s for a field and %% for a percent sign.`)
      }
    }
  }
  parts.push(text.slice(from))
  return (target) => {
    let filled = ''
    for (const part of parts) {
      const next = typeof part === 'string' ? part : part(target)
      if (next === undefined) return undefined
      filled += next
    }
    return filled
  }
}
