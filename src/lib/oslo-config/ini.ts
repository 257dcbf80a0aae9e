import { ConfigError } from './errors.ts'
import { strip, stripEnd, stripStart } from './python-text.ts'

export interface Setting {
  readonly section: string
  readonly key: string
  /** continuation lines joined by newlines */
  readonly value: string
  /** where the setting starts, counted from 1 */
  readonly line: number
}

export interface ParsedFile {
  readonly path: string
  readonly sections: readonly { readonly name: string; readonly line: number }[]
  readonly settings: readonly Setting[]
}

/**
 * Reads the text of a configuration file as oslo.config's `iniparser` does: `=` or `:` (whichever comes first), lines that
 * start with a blank or tab continue the value before, `#` and `;` only at the start of a line, one pair of equal quotes
 * around a value goes away, a key may stand many times.
 *
 * @throws ConfigError ConfigFileParseError, with file and line
 */
export function parseIni(path: string, text: string): ParsedFile {
  const sections: { name: string; line: number }[] = []
  const settings: Setting[] = []
  let section: string | undefined
  let open: { key: string; lines: string[]; line: number } | undefined

  const fail = (line: number, what: string, source: string): never => {
    throw new ConfigError('ConfigFileParseError', `${path}:${line}: ${what}: ${JSON.stringify(source)}`)
  }
  const close = (lineNumber: number) => {
    if (open === undefined) return
    if (section === undefined) {
      return fail(open.line, 'a setting stands before the first [section]', open.key)
    }
    settings.push({ section, key: open.key, value: open.lines.join('\n'), line: Math.min(open.line, lineNumber) })
    open = undefined
  }

  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  for (const [index, raw] of lines.entries()) {
    const number = index + 1
    const line = stripEnd(raw)
    if (line === '') {
      close(number)
    } else if (line.startsWith(' ') || line.startsWith('\t')) {
      if (open === undefined) fail(number, 'an indented line continues nothing', line)
      else open.lines.push(stripStart(line))
    } else {
      close(number)
      if (line.startsWith('[')) {
        if (!line.endsWith(']')) fail(number, 'a section must end with "]"', line)
        if (line.length <= 2) fail(number, 'a section needs a name', line)
        section = line.slice(1, -1)
        sections.push({ name: section, line: number })
      } else if (!line.startsWith('#') && !line.startsWith(';')) {
        const at = line.search(/[:=]/)
        if (at < 0) fail(number, 'a setting needs "=" or ":"', line)
        const key = strip(line.slice(0, at))
        if (key === '') fail(number, 'a setting needs a name before "=" or ":"', line)
        open = { key, lines: [unquote(strip(line.slice(at + 1)))], line: number }
      }
    }
  }
  close(lines.length)
  return { path, sections, settings }
}

function unquote(value: string): string {
  const first = value[0]
  return (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : value
}
