/** Classes that Python's `re` takes from all of Unicode and RE2 from ASCII alone: outside and inside of brackets. */
const classes: Readonly<Record<string, readonly [string, string]>> = {
  w: ['[\\pL\\pM\\pN_]', '\\pL\\pM\\pN_'],
  W: ['[^\\pL\\pM\\pN_]', '[^\\pL\\pM\\pN_]'],
  d: ['\\p{Nd}', '\\p{Nd}'],
  D: ['\\P{Nd}', '\\P{Nd}'],
  s: ['[\\s\\v\\x1c-\\x1f\\x{85}\\pZ]', '\\s\\v\\x1c-\\x1f\\x{85}\\pZ'],
  S: ['[^\\s\\v\\x1c-\\x1f\\x{85}\\pZ]', '\\S'],
  Z: ['\\z', '\\z'],
}

/** A pattern of Python's `re` in RE2's spelling. What RE2 cannot do (back references, look-around) is left for it to refuse. */
export function translatePattern(pattern: string): string {
  let result = ''
  let inBrackets = false
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] ?? ''
    if (char === '\\') {
      const next = pattern[++i] ?? ''
      result += classes[next]?.[inBrackets ? 1 : 0] ?? `\\${next}`
      continue
    }
    if (char === '[' && !inBrackets) {
      inBrackets = true
      // a bracket that closes at once is a member
      const start = /^\[\^?\]?/.exec(pattern.slice(i))?.[0] ?? '['
      result += start.replace(/\]$/, '\\]')
      i += start.length - 1
      continue
    }
    if (char === ']') inBrackets = false
    result += char === '[' ? '\\[' : char
  }
  return result
}
