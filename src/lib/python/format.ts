import { repr, str } from './text.ts'

/** A format string that Python would refuse; `missing` when a key was not there. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
  readonly missing: boolean
  constructor(message: string, missing = false) {
    super(message)
    this.missing = missing
  }
}

const simpleField = /^([^.[\]{}!:]*)((?:\.[^.[\]{}!:]+|\[[^\]{}]+\])*)$/

function step(value: unknown, part: string): unknown {
  const isIndex = part.startsWith('[')
  const key = isIndex ? part.slice(1, -1) : part.slice(1)
  if (Array.isArray(value)) {
    if (!isIndex || !/^\d+$/.test(key) || Number(key) >= value.length) throw new FormatError(`there is no ${part}`)
    return value[Number(key)]
  }
  if (typeof value === 'string' && isIndex && /^\d+$/.test(key) && Number(key) < value.length) return value[Number(key)]
  if (typeof value !== 'object' || value === null) throw new FormatError(`${repr(value)} has no ${part}`)
  // a key of digits alone is a number to Python, and JSON has no such keys
  if (!Object.hasOwn(value, key) || (isIndex && /^\d+$/.test(key)))
    throw new FormatError(`there is no ${part}`, isIndex)
  if (!isIndex && !(attributes in value)) throw new FormatError(`${part} is no attribute`)
  return (value as Record<string, unknown>)[key]
}

/** Marks an object whose fields are reached by `.name` as well as by `[name]`. */
export const attributes: unique symbol = Symbol('attributes')

function lookUp(field: string, context: Readonly<Record<string, unknown>>): unknown {
  const match = simpleField.exec(field)
  if (match === null) throw new FormatError(`${field} is no field`)
  const [, name = '', path = ''] = match
  if (name === '' || /^\d+$/.test(name)) throw new FormatError('positional fields have no value')
  if (!Object.hasOwn(context, name)) throw new FormatError(`there is no ${name}`, true)
  return (path.match(/\.[^.[]+|\[[^\]]+\]/g) ?? []).reduce(step, context[name])
}

const specPattern = /^(?:(.)?([<>=^]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/u

function formatInteger(value: number, type: string, grouping: string | undefined): string {
  const radix = { b: 2, o: 8, x: 16, X: 16 }[type]
  if (radix !== undefined) return type === 'X' ? value.toString(16).toUpperCase() : value.toString(radix)
  if (type === 'c') return String.fromCodePoint(value)
  return grouping === undefined ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, grouping)
}

function formatFloat(value: number, type: string, precision: number): string {
  switch (type.toLowerCase()) {
    case 'e':
      return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
    case '%':
      return `${(value * 100).toFixed(precision)}%`
    case 'g':
      return String(Number(value.toPrecision(Math.max(precision, 1))))
    default:
      return value.toFixed(precision)
  }
}

/** `format(value, spec)` for text and numbers; other values take no specification. */
function applySpec(value: unknown, spec: string): string {
  if (spec === '') return str(value)
  const match = specPattern.exec(spec)
  if (match === null) throw new FormatError(`${spec} is no format`)
  const [, fill, align, sign, , zero, width, grouping, precision, type] = match
  const isText = typeof value === 'string'
  if (!isText && typeof value !== 'number' && typeof value !== 'boolean')
    throw new FormatError(`${repr(value)} takes no format`)
  if (isText && ((type !== undefined && type !== 's') || sign !== undefined || align === '='))
    throw new FormatError(`${spec} is no format of text`)
  if (!isText && type === 's') throw new FormatError(`${spec} is no format of a number`)
  let body: string
  if (isText) body = precision === undefined ? value : Array.from(value).slice(0, Number(precision)).join('')
  else {
    const number = Number(value)
    const isFloat = (type !== undefined && 'eEfFgG%'.includes(type)) || !Number.isInteger(number)
    if (isFloat && type !== undefined && 'bcdoxX'.includes(type)) throw new FormatError(`${spec} is for whole numbers`)
    body = isFloat
      ? formatFloat(Math.abs(number), type ?? 'g', Number(precision ?? (type === undefined ? 17 : 6)))
      : formatInteger(Math.abs(number), type ?? 'd', grouping)
    const prefix = number < 0 ? '-' : sign === '+' || sign === ' ' ? sign : ''
    if (zero !== undefined && align === undefined) body = body.padStart(Number(width ?? 0) - prefix.length, '0')
    body = prefix + body
  }
  const room = Number(width ?? 0) - Array.from(body).length
  if (room <= 0) return body
  const pad = fill ?? (zero !== undefined && isText ? '0' : ' ')
  const side = align ?? (isText ? '<' : '>')
  if (side === '<') return body + pad.repeat(room)
  if (side === '^') return pad.repeat(Math.floor(room / 2)) + body + pad.repeat(Math.ceil(room / 2))
  return pad.repeat(room) + body
}

function replaceField(field: string, context: Readonly<Record<string, unknown>>): string {
  const colon = /^[^[\]:]*(?:\[[^\]]*\][^[\]:]*)*/.exec(field)?.[0].length ?? 0
  const spec = field.slice(colon + 1)
  const [name = '', conversion, ...more] = field.slice(0, colon).split('!')
  if (more.length > 0 || (conversion !== undefined && !/^[rsa]$/.test(conversion)))
    throw new FormatError(`${field} has no known conversion`)
  const value = lookUp(name, context)
  const converted = conversion === undefined ? value : conversion === 's' ? str(value) : repr(value)
  return applySpec(converted, spec.includes('{') ? format(spec, context) : spec)
}

/**
 * `text.format(**context)` of Python for JSON values: `{name[key].attribute!r:spec}`, doubled braces. Objects marked with
 * `attributes` are reached by `.name`. Nothing but own fields of JSON data can be reached.
 * @throws FormatError where Python would raise
 */
export function format(text: string, context: Readonly<Record<string, unknown>>): string {
  let result = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char !== '{' && char !== '}') {
      result += char
      continue
    }
    if (text[i + 1] === char) {
      result += char
      i++
      continue
    }
    if (char === '}') throw new FormatError('a closing brace stands alone')
    const end = closingBrace(text, i)
    result += replaceField(text.slice(i + 1, end), context)
    i = end
  }
  return result
}

function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let i = open; i < text.length; i++) {
    if (text[i] === '{') depth++
    else if (text[i] === '}' && --depth === 0) return i
  }
  throw new FormatError('an opening brace is never closed')
}
