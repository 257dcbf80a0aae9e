/**
 * How Python reads and writes the plain values of a configuration file. Operators' files rely on it: what counts as white
 * space, `1_000` is a number, `True` is how a flag reads inside a substituted text.
 */

const space = '\\t\\n\\v\\f\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const leading = new RegExp(`^[${space}]+`, 'u')
const trailing = new RegExp(`[${space}]+$`, 'u')

export const stripStart = (text: string) => text.replace(leading, '')
export const stripEnd = (text: string) => text.replace(trailing, '')
/** `str.strip()`: white space is what Unicode says, control separators included, the byte order mark not. */
export const strip = (text: string) => stripEnd(stripStart(text))

/** Decimal digits of every script as ASCII digits: `int('٣')` is 3. */
const asciiDigits = (text: string) =>
  text.replace(/\p{Nd}/gu, (digit) => {
    if (digit <= '9') return digit
    const point = digit.codePointAt(0)!
    let zero = point
    // Decimal digits stand in unbroken runs of ten, so the run's start gives the value.
    while (point - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
    return String((point - zero) % 10)
  })

/** `int(text)`; undefined when Python would refuse it. */
export function parsePythonInt(text: string): number | undefined {
  const digits = asciiDigits(strip(text))
  if (!/^[+-]?\d+(?:_\d+)*$/.test(digits)) return undefined
  const value = Number(digits.replaceAll('_', ''))
  return value === 0 ? 0 : value
}

/** `int(text, 8)`; undefined when Python would refuse it. */
export function parsePythonOctal(text: string): number | undefined {
  const match = /^([+-]?)(?:0[oO]_?)?([0-7]+(?:_[0-7]+)*)$/.exec(asciiDigits(strip(text)))
  if (match === null) return undefined
  const value = Number.parseInt(match[2]!.replaceAll('_', ''), 8)
  return match[1] === '-' && value !== 0 ? -value : value
}

/** `float(text)`; undefined when Python would refuse it. */
export function parsePythonFloat(text: string): number | undefined {
  const number = asciiDigits(strip(text))
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(number)
  if (word !== null) {
    if (word[2]!.toLowerCase() === 'nan') return Number.NaN
    return word[1] === '-' ? -Infinity : Infinity
  }
  const part = '\\d+(?:_\\d+)*'
  if (!new RegExp(`^[+-]?(?:${part}(?:\\.(?:${part})?)?|\\.${part})(?:e[+-]?${part})?$`, 'i').test(number))
    return undefined
  return Number(number.replaceAll('_', ''))
}

/** `repr(float)`: always with a point or an exponent. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const magnitude = Math.abs(value)
  if (magnitude !== 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string]
    const sign = exponent.startsWith('-') ? '-' : '+'
    return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`
  }
  const text = Object.is(value, -0) ? '-0' : String(value)
  return text.includes('.') ? text : `${text}.0`
}

/** `repr(str)`. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const body = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`)
  return quote + body + quote
}

const inside = (value: unknown): string => (typeof value === 'string' ? quoted(value) : pythonText(value))

/** `str(value)` of what an option can hold. */
export function pythonText(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value) : pythonFloat(value)
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(inside).join(', ')}]`
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${inside(key)}: ${inside(item)}`)
      .join(', ')}}`
  }
  return String(value)
}
