/**
 * How Python shows and compares JSON values. Users' inspection rules were written against that, so the text `True`, `None` or
 * `{'a': 1}` is part of the contract.
 */

const isDict = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  // oxlint-disable-next-line no-control-regex -- control characters are what is escaped
  const body = text.replace(/[\\\n\r\t\u0000-\u001f\u007f-\u00a0]|'/g, (char) => {
    if (char === "'") return quote === "'" ? "\\'" : char
    return escapes[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return quote + body + quote
}

function shownNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return String(value)
  const text = String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** `repr(value)` */
export function repr(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`
  if (isDict(value))
    return `{${Object.entries(value)
      .map(([key, member]) => `${quoted(key)}: ${repr(member)}`)
      .join(', ')}}`
  return str(value)
}

/** `str(value)` */
export function str(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return shownNumber(value)
  if (value instanceof Date)
    return value
      .toISOString()
      .replace('T', ' ')
      .replace(/\.000Z$|Z$/, '+00:00')
  return repr(value)
}

const numeric = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : undefined

/** `a == b` */
export function equal(a: unknown, b: unknown): boolean {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return x === y
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (isDict(a) && isDict(b)) {
    const keys = Object.keys(a)
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && equal(a[key], b[key]))
  }
  return a === b
}

/** `a < b`. @throws TypeError for values that have no order */
export function less(a: unknown, b: unknown): boolean {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return x < y
  if (typeof a === 'string' && typeof b === 'string') return a < b
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((item, i) => i >= b.length || !equal(item, b[i]))
    if (at === -1) return a.length < b.length
    return at < b.length && less(a[at], b[at])
  }
  throw new TypeError(`${repr(a)} and ${repr(b)} have no order`)
}

/** `item in container`. @throws TypeError when the container holds nothing */
export function contains(container: unknown, item: unknown): boolean {
  if (Array.isArray(container)) return container.some((member) => equal(member, item))
  if (typeof container === 'string' && typeof item === 'string') return container.includes(item)
  if (isDict(container)) return typeof item === 'string' && Object.hasOwn(container, item)
  throw new TypeError(`${repr(item)} cannot be looked for in ${repr(container)}`)
}
