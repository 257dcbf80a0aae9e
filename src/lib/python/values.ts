/** How Python compares JSON values: users' inspection rules were written against that. */
import { repr } from './text.ts'

const isDict = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
