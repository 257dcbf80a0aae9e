/** A piece of text as Python's `json.dumps` writes it: everything but printable ASCII is escaped. */
const quoted = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- DEL is what JSON.stringify leaves as it is
  JSON.stringify(text).replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** JSON in Python's default style: `", "` and `": "` between, keys in their order, non-ASCII escaped. */
export function pythonJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  const members = Object.entries(value).map(([key, item]) => `${quoted(key)}: ${pythonJson(item)}`)
  return `{${members.join(', ')}}`
}
