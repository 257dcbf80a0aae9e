const trueWords = new Set(['1', 't', 'true', 'on', 'y', 'yes'])
const falseWords = new Set(['0', 'f', 'false', 'off', 'n', 'no'])

/** What a word says as a boolean, the way oslo.utils reads it; undefined when it says neither. */
export function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const word = String(value).trim().toLowerCase()
  if (trueWords.has(word)) return true
  return falseWords.has(word) ? false : undefined
}

/** Whether a text is one of the boolean words (blanks around it are not forgiven). */
export function isBooleanWord(value: unknown): boolean {
  const word = String(value).toLowerCase()
  return trueWords.has(word) || falseWords.has(word)
}

export const booleanWords: readonly string[] = [...trueWords, ...falseWords].sort()
