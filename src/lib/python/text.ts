/** Text as Python writes it: needed where a peer's or an operator's text was made, or will be read, by Python. */

/** The members of the class that `str.strip()`, `str.split()` and `\s` take for white space; JavaScript's `\s` differs. */
export const pythonSpace = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'

const edges = new RegExp(`^[${pythonSpace}]+|[${pythonSpace}]+$`, 'g')

/** `str.strip()`. */
export const strip = (text: string): string => text.replace(edges, '')

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
const unprintable = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu

function escaped(char: string): string {
  const point = char.codePointAt(0) ?? 0
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, '0')}`
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, '0')}` : `\\U${point.toString(16).padStart(8, '0')}`
}

function reprText(text: string): string {
  const body = text.replace(unprintable, (char) => escapes[char] ?? escaped(char))
  return text.includes("'") && !text.includes('"') ? `"${body}"` : `'${body.replaceAll("'", "\\'")}'`
}

/** A float as `repr` writes it: an exponent below 1e-4 and from 1e16 on. */
export function reprFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  }
  const text = value.toString()
  return text.includes('.') ? text : `${text}.0`
}

const reprNumber = (value: number): string => (Number.isInteger(value) ? BigInt(value).toString() : reprFloat(value))

/** `repr()` of a value that came out of JSON; a whole number counts as an int. */
export function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'string') return reprText(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return reprNumber(value)
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`
  const members = Object.entries(value).map(([key, member]) => `${reprText(key)}: ${repr(member)}`)
  return `{${members.join(', ')}}`
}

/** `str()` of a value that came out of JSON. */
export const str = (value: unknown): string => (typeof value === 'string' ? value : repr(value))
