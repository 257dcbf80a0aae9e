import { ConfigError } from './errors.ts'

/** A Python regular expression as ours: named groups, `\A`, `\Z`, and `$` that also stands before a last newline. */
export function pythonPattern(source: string, ignoreCase: boolean): RegExp {
  let translated = ''
  let inClass = false
  for (let index = 0; index < source.length; index++) {
    const rest = source.slice(index)
    if (rest.startsWith('\\')) {
      const escaped = rest[1] ?? ''
      index += 1
      if (!inClass && escaped === 'A') translated += '(?<![\\s\\S])'
      else if (!inClass && escaped === 'Z') translated += '(?![\\s\\S])'
      else translated += /[A-Za-z0-9^$\\.*+?()[\]{}|/-]/.test(escaped) ? `\\${escaped}` : escaped
    } else if (inClass) {
      if (rest.startsWith(']')) inClass = false
      translated += rest[0]
    } else if (rest.startsWith('[')) {
      inClass = true
      translated += '['
    } else if (rest.startsWith('(?P<')) {
      translated += '(?<'
      index += 3
    } else if (rest.startsWith('$')) {
      translated += '(?=\\n?(?![\\s\\S]))'
    } else {
      translated += rest[0]
    }
  }
  try {
    return new RegExp(translated, ignoreCase ? 'iu' : 'u')
  } catch (cause) {
    throw new ConfigError('ValueError', `the pattern ${source} cannot be used`, { cause })
  }
}
