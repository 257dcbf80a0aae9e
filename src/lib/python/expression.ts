/**
 * What Python's parser and `ast.literal_eval` say of a short text: a literal value, an expression that is none, or no expression.
 * Policy rules may begin with any of them.
 */
import { repr, reprFloat } from './text.ts'

export type Expression =
  /** `str` and `repr` of the value */
  | { readonly kind: 'literal'; readonly str: string; readonly repr: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'error' }

/** A value in the middle of an expression; numbers keep what unary and binary operators need. */
interface Part {
  readonly literal?: { readonly str: string; readonly repr: string }
  readonly number?: { readonly real: number | bigint; readonly imaginary?: number }
}

class NoExpression extends Error {}

const keywords: ReadonlySet<string> = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
)
const constants: Readonly<Record<string, string>> = { None: 'None', True: 'True', False: 'False' }
const binaryOperators = /(?:\*\*|\/\/|<<|>>|<=|>=|==|!=|[-+*/%&|^@<>]|\b(?:and|or|is\s+not|is|not\s+in|in)\b)/y
const numberPattern =
  /(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*)?\.\d(?:_?\d)*(?:[eE][-+]?\d(?:_?\d)*)?|\d(?:_?\d)*\.?(?:[eE][-+]?\d(?:_?\d)*)?)/y
const namePattern = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{N}\p{Mn}\p{Mc}_]*/uy
const stringPattern =
  /([rRbBuUfF]{0,2})(?:'''((?:\\[^]|(?!''')[^\\])*)'''|"""((?:\\[^]|(?!""")[^\\])*)"""|'((?:\\[^]|[^'\\\n])*)'|"((?:\\[^]|[^"\\\n])*)")/y
const prefixes: ReadonlySet<string> = new Set(['', 'r', 'b', 'u', 'f', 'rb', 'br', 'fr', 'rf'])

/** Reads the text as one expression. */
export function readExpression(text: string): Expression {
  try {
    const parser = new Parser(text.replace(/^[ \t]+/, ''))
    const { literal } = parser.whole()
    return literal === undefined ? { kind: 'other' } : { kind: 'literal', ...literal }
  } catch (error) {
    if (error instanceof NoExpression) return { kind: 'error' }
    throw error
  }
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Part {
    const first = this.#binary()
    const part = this.#peek(',') ? this.#series(first, '') : first
    this.#blank()
    if (this.#at < this.#text.length) throw new NoExpression()
    return part
  }

  #blank(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    this.#blank()
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }

  #peek(sign: string): boolean {
    this.#blank()
    return this.#text.startsWith(sign, this.#at)
  }

  #takes(sign: string): boolean {
    const taken = this.#peek(sign)
    if (taken) this.#at += sign.length
    return taken
  }

  #binary(): Part {
    let left = this.#unary()
    for (let count = 0; ; count++) {
      const operator = this.#match(binaryOperators)?.[0]
      if (operator === undefined) return left
      const right = this.#unary()
      left = count === 0 ? sum(left, operator, right) : {}
    }
  }

  /** A sign before a number makes another number; before anything else it makes an expression. */
  #unary(): Part {
    const sign = this.#match(/[-+~]|not\b/y)?.[0]
    if (sign === undefined) return this.#postfix()
    const signed = this.#peek('-') || this.#peek('+')
    const { number, literal } = this.#unary()
    if (number === undefined || literal === undefined || signed || (sign !== '-' && sign !== '+')) return {}
    return sign === '+' ? { number, literal } : numberPart(negated(number))
  }

  #postfix(): Part {
    let part = this.#atom()
    for (;;) {
      if (this.#takes('.')) {
        if (this.#match(namePattern) === null) throw new NoExpression()
      } else if (this.#takes('(')) this.#rest(')')
      else if (this.#takes('[')) {
        if (this.#rest(']') === 0) throw new NoExpression()
      } else return part
      part = {}
    }
  }

  /** Items up to the closing sign. @returns how many */
  #rest(close: string): number {
    let count = 0
    while (!this.#takes(close)) {
      this.#binary()
      count += 1
      if (!this.#takes(',') && !this.#peek(close)) throw new NoExpression()
    }
    return count
  }

  #atom(): Part {
    if (this.#takes('...')) return { literal: { str: 'Ellipsis', repr: 'Ellipsis' } }
    if (this.#takes('(')) return this.#group()
    if (this.#takes('[')) return this.#series(undefined, ']')
    if (this.#takes('{')) return this.#series(undefined, '}')
    const string = this.#strings()
    if (string !== undefined) return string
    const number = this.#match(numberPattern)?.[0]
    if (number !== undefined) return this.#number(number)
    const name = this.#match(namePattern)?.[0]
    if (name === undefined || keywords.has(name)) throw new NoExpression()
    const constant = Object.hasOwn(constants, name) ? constants[name] : undefined
    return constant === undefined ? {} : { literal: { str: constant, repr: constant } }
  }

  #group(): Part {
    if (this.#takes(')')) return { literal: { str: '()', repr: '()' } }
    const first = this.#binary()
    if (this.#takes(')')) return first
    return this.#series(first, ')')
  }

  /** A list, set or tuple; of a tuple the first item is read already. */
  #series(first: Part | undefined, close: string): Part {
    const items: Part[] = first === undefined ? [] : [first]
    if (first !== undefined && !this.#takes(',')) throw new NoExpression()
    while (close === '' ? this.#more() : !this.#takes(close)) {
      items.push(this.#binary())
      if (!this.#takes(',') && close !== '' && !this.#peek(close)) throw new NoExpression()
    }
    const texts = items.map((item) => item.literal?.repr)
    if (texts.includes(undefined)) return {}
    const list = texts.join(', ')
    const text = { ']': `[${list}]`, '}': `{${list}}` }[close] ?? (items.length === 1 ? `(${list},)` : `(${list})`)
    return { literal: { str: text, repr: text } }
  }

  #more(): boolean {
    this.#blank()
    return this.#at < this.#text.length
  }

  /** One or several strings side by side. */
  #strings(): Part | undefined {
    let value: string | undefined
    let kind = ''
    for (;;) {
      const from = this.#at
      const match = this.#match(stringPattern)
      if (match === null) break
      const prefix = (match[1] ?? '').toLowerCase()
      if (!prefixes.has(prefix)) throw new NoExpression()
      const body = match[2] ?? match[3] ?? match[4] ?? match[5] ?? ''
      const bytes = prefix.includes('b')
      if (value !== undefined && bytes !== (kind === 'b')) throw new NoExpression()
      kind = prefix.includes('f') || kind === 'f' ? 'f' : bytes ? 'b' : ''
      value = (value ?? '') + (prefix.includes('r') ? body : unescaped(body))
      if (this.#at === from) break
    }
    if (value === undefined) return undefined
    if (kind === 'f') return {}
    if (kind === 'b') {
      const text = `b${repr(value)}`
      return { literal: { str: text, repr: text } }
    }
    return { literal: { str: value, repr: repr(value) } }
  }

  #number(text: string): Part {
    const imaginary = /[jJ]/.test(this.#text[this.#at] ?? '')
    if (imaginary) this.#at += 1
    namePattern.lastIndex = this.#at
    const decimal = /^\d/.test(text) && !/^0[xXoObB]/.test(text)
    if (namePattern.test(this.#text) || /[\d]/.test(this.#text[this.#at] ?? '')) throw new NoExpression()
    const plain = text.replaceAll('_', '')
    const whole = /^(?:\d+|0[xXoObB].*)$/.test(plain)
    if (imaginary) return numberPart({ real: 0, imaginary: Number(plain) })
    if (whole && decimal && /^0+[1-9]/.test(plain)) throw new NoExpression()
    return numberPart({ real: whole ? BigInt(/^0+$/.test(plain) ? '0' : plain) : Number(plain) })
  }
}

const negated = ({ real, imaginary }: NonNullable<Part['number']>): NonNullable<Part['number']> =>
  imaginary === undefined ? { real: -real } : { real: -Number(real), imaginary: -imaginary }

/** A float inside a complex number loses its `.0`. */
const short = (value: number): string => reprFloat(value).replace(/\.0$/, '')

function numberPart(number: NonNullable<Part['number']>): Part {
  const { real, imaginary } = number
  let text: string
  if (imaginary === undefined) text = typeof real === 'bigint' ? real.toString() : signedFloat(real)
  else if (Object.is(Number(real), 0)) text = `${short(imaginary)}j`
  else {
    const plus = imaginary < 0 || Object.is(imaginary, -0) ? '' : '+'
    text = `(${Object.is(Number(real), -0) ? '-0' : short(Number(real))}${plus}${short(imaginary)}j)`
  }
  return { number, literal: { str: text, repr: text } }
}

const signedFloat = (value: number): string => (Object.is(value, -0) ? '-0.0' : reprFloat(value))

/** Only a real number plus or minus an imaginary one is a literal. */
function sum(left: Part, operator: string, right: Part): Part {
  const [a, b] = [left.number, right.number]
  const isSum = operator === '+' || operator === '-'
  if (!isSum || a === undefined || b === undefined || a.imaginary !== undefined || b.imaginary === undefined) return {}
  return numberPart({ real: Number(a.real), imaginary: operator === '+' ? b.imaginary : -b.imaginary })
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
}

function unescaped(body: string): string {
  return body.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/g,
    (whole, x?: string, u?: string, long?: string, octal?: string, char?: string) => {
      const hex = x ?? u ?? long
      if (hex !== undefined && parseInt(hex, 16) > 0x10ffff) throw new NoExpression()
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16))
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8))
      if (char === 'x' || char === 'u' || char === 'U' || char === 'N') throw new NoExpression()
      return simpleEscapes[char ?? ''] ?? whole
    },
  )
}
