import { repr, str } from '../python/text.ts'

/** What a check is asked about: fields of the object, and what the service adds. */
export type Target = Readonly<Record<string, unknown>>

/** A check that cannot be evaluated with what it was given; whoever asked must refuse. */
export class UncheckableRule extends Error {
  override readonly name = 'UncheckableRule'
}

/** A text with `%(name)s` in it, filled from a target; `undefined` when the target lacks a name. */
export type Template = (target: Target) => string | undefined

type Part = string | ((target: Target) => string | undefined)

/** Python's `%` with a mapping: `%(name)s`, flags, width, precision, conversion. Names may hold balanced parentheses. */
const piece = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([-#0 +]*)(\d*)(?:\.(\d*))?[hlL]?([^]?)/g

function convert(value: unknown, conversion: string, template: string): string {
  if (conversion === 's') return str(value)
  if (conversion === 'r') return repr(value)
  const whole = typeof value === 'boolean' ? Number(value) : value
  if ((conversion === 'd' || conversion === 'i') && typeof whole === 'number') return Math.trunc(whole).toString()
  throw new UncheckableRule(`"${template}" cannot be filled: a value does not fit %${conversion}; use %(name)s.`)
}

function padded(text: string, flags: string, width: string): string {
  return flags.includes('-') ? text.padEnd(Number(width)) : text.padStart(Number(width))
}

function partOf(template: string, [, name, flags = '', width = '', precision, conversion = '']: RegExpExecArray): Part {
  if (conversion === '%') return '%'
  const shaped = (value: unknown) => {
    const text = convert(value, conversion, template)
    return padded(precision === undefined ? text : text.slice(0, Number(precision)), flags, width)
  }
  // Without a name Python takes the whole mapping.
  if (name === undefined) return (target) => shaped(target)
  return (target) => (Object.hasOwn(target, name) ? shaped(target[name]) : undefined)
}

/** Compiles a template once, so that filling it costs a look-up. */
export function compileTemplate(text: string): Template {
  if (!text.includes('%')) return () => text
  const simple = /^%\(([^()]*)\)s$/.exec(text)?.[1]
  if (simple !== undefined) return (target) => (Object.hasOwn(target, simple) ? str(target[simple]) : undefined)
  const parts: Part[] = []
  let from = 0
  let unnamed = 0
  for (const match of text.matchAll(piece)) {
    parts.push(text.slice(from, match.index), partOf(text, match))
    from = match.index + match[0].length
    if (match[1] === undefined && match[5] !== '%') unnamed += 1
    if (match[5] === '' || unnamed > 1) {
      return () => {
        throw new UncheckableRule(`"${text}" is no template: write %(name)s for a field and %% for a percent sign.`)
      }
    }
  }
  parts.push(text.slice(from))
  return (target) => {
    let filled = ''
    for (const part of parts) {
      const next = typeof part === 'string' ? part : part(target)
      if (next === undefined) return undefined
      filled += next
    }
    return filled
  }
}
