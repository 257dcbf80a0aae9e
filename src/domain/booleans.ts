/** Yes and no as people write them into `driver_info` and `properties`; the words of oslo.utils' strutils. */
const yes = new Set(['1', 't', 'true', 'on', 'y', 'yes'])
const no = new Set(['0', 'f', 'false', 'off', 'n', 'no'])

// what Python's str.strip() takes away from ASCII text
const words = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : undefined

/** True or false for a word that is one of the two; undefined for anything else. */
export function booleanFrom(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = words(value)
  if (word === undefined) return undefined
  return yes.has(word) ? true : no.has(word) ? false : undefined
}

/** The same, where anything that is not a clear word means `otherwise`. */
export const booleanOr = (value: unknown, otherwise = false): boolean => booleanFrom(value) ?? otherwise
