import type { Field } from '../../objects/versioned-object.ts'

/** Parts of a path: with slashes when it has one, else with dots. */
export const pathParts = (path: string): string[] =>
  path.includes('/') ? path.replace(/^\/+|\/+$/g, '').split('/') : path.split('.')

type Dictionary = Record<string, unknown>

const isDictionary = (value: unknown): value is Dictionary =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Refuses names that JavaScript gives a meaning of its own. */
function member(parent: unknown, name: string): Dictionary {
  if (!isDictionary(parent)) throw new TypeError(`"${name}" cannot be reached: what holds it is no object`)
  if (name === '__proto__') throw new TypeError('"__proto__" is no name for a member')
  return parent
}

/** The object that holds the last part; objects on the way are made when `create` is set. @throws TypeError */
export function parentOf(root: Dictionary, parts: readonly string[], create: boolean): Dictionary {
  let current: unknown = root
  for (const part of parts.slice(0, -1)) {
    const parent = member(current, part)
    if (!Object.hasOwn(parent, part)) {
      if (!create) throw new TypeError(`there is no "${part}"`)
      parent[part] = {}
    }
    current = parent[part]
  }
  return member(current, parts.at(-1) ?? '')
}

const asNumber = (value: unknown): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'boolean') return Number(number)
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new TypeError('a number is wanted')
  return Math.trunc(number)
}

type Coercion = (value: unknown) => unknown

const coercions: Readonly<Partial<Record<Field<unknown>['type'], Coercion>>> = {
  text: (value) => {
    if (typeof value === 'boolean') return value ? 'True' : 'False'
    if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError('a text is wanted')
    return String(value)
  },
  bool: (value) => (Array.isArray(value) ? value.length > 0 : Boolean(value)),
  int: asNumber,
  dict: (value) => {
    if (Array.isArray(value) && value.length === 0) return {}
    if (!isDictionary(value)) throw new TypeError('an object is wanted')
    return value
  },
  time: (value) => {
    const time = value instanceof Date ? value : new Date(String(value))
    if (Number.isNaN(time.getTime())) throw new TypeError('a time is wanted')
    return time
  },
  mac: (value) => String(value).toLowerCase(),
}

/** The value as the field holds it. @throws TypeError when it cannot be one */
export function coerce(field: Field<unknown>, value: unknown): unknown {
  if (value === null) {
    if (!field.nullable) throw new TypeError('null is not allowed')
    return null
  }
  return (coercions[field.type] ?? ((same) => same))(value)
}
