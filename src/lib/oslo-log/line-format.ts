/** A record's fields, by the names that the format options use. */
export type LineFields = Readonly<Record<string, unknown>>
export type LineFormat = (fields: LineFields) => string

const field = /%(?:%|\(([^)]+)\)([-#0 +]*)(\d*)(?:\.(\d+))?([sdifr]))/g

function padded(text: string, flags: string, width: number): string {
  if (text.length >= width) return text
  if (flags.includes('-')) return text.padEnd(width)
  return text.padStart(width, flags.includes('0') ? '0' : ' ')
}

/** Compiles a Python format with named fields, such as `%(asctime)s.%(msecs)03d %(levelname)s`. A field without value is empty. */
export function lineFormat(format: string): LineFormat {
  const parts: (string | ((fields: LineFields) => string))[] = []
  let end = 0
  for (const match of format.matchAll(field)) {
    parts.push(format.slice(end, match.index))
    end = match.index + match[0].length
    const [, name, flags = '', width = '', precision, type = 's'] = match
    if (name === undefined) {
      parts.push('%')
      continue
    }
    const size = Number(width)
    parts.push((fields) => padded(asText(fields[name], type, precision), flags, size))
  }
  parts.push(format.slice(end))
  return (fields) => parts.map((part) => (typeof part === 'string' ? part : part(fields))).join('')
}

function asText(value: unknown, type: string, precision: string | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number' && (type === 'd' || type === 'i')) return String(Math.trunc(value))
  if (typeof value === 'number' && type === 'f') return value.toFixed(Number(precision ?? 6))
  const text = value === null ? 'None' : String(value)
  return precision === undefined ? text : text.slice(0, Number(precision))
}

/** The names of the fields that a format uses. */
export const fieldsOf = (format: string): Set<string> =>
  new Set([...format.matchAll(field)].flatMap((match) => (match[1] === undefined ? [] : [match[1]])))
