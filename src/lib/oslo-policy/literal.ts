import { repr, reprFloat } from '../python/text.ts'

/**
 * Left sides such as `None`, `True`, `'public'`, `5`: what Python's `ast.literal_eval` takes for a value, as `str()` writes it.
 * A left side that is an expression but no value names a credential instead.
 */
export type LeftSide =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'path'; readonly path: readonly string[] }
  | { readonly kind: 'nonsense' }

const keywords: ReadonlySet<string> = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
)
const word = '[\\p{L}\\p{Nl}_][\\p{L}\\p{N}\\p{Mn}\\p{Mc}_]*'
/** Names joined by dots or operators are an expression for Python, hence a path for oslo.policy. */
const expression = new RegExp(`^${word}(?:(?:\\.|\\*\\*|//|<<|>>|[-+*/%&|^@])${word})*$`, 'u')
const constants: Record<string, string> = { None: 'None', True: 'True', False: 'False', '...': 'Ellipsis' }
const integer = /^(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[1-9](?:_?\d)*|0(?:_?0)*)$/
const decimal = /^(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?$/
const quoted = /^[uU]?(?:'((?:[^'\\\n]|\\[^])*)'|"((?:[^"\\\n]|\\[^])*)")$/
const raw = /^[rR](?:'([^'\\\n]*)'|"([^"\\\n]*)")$/

/** `repr()` of a literal, or `undefined` for what is none. */
function literal(text: string): { repr: string; str?: string } | undefined {
  const constant = constants[text]
  if (constant !== undefined) return { repr: constant }
  const sign = /^[-+]+/.exec(text)?.[0]
  if (sign !== undefined) return signed(sign, text.slice(sign.length))
  if (integer.test(text)) return { repr: BigInt(text.replaceAll('_', '')).toString() }
  if (decimal.test(text) && /[.eE]/.test(text)) return { repr: reprFloat(Number(text.replaceAll('_', ''))) }
  const string = stringLiteral(text)
  if (string !== undefined) return { repr: repr(string), str: string }
  return listLiteral(text)
}

function signed(sign: string, text: string): { repr: string } | undefined {
  if (!integer.test(text) && !decimal.test(text)) return undefined
  const number = literal(text)?.repr
  if (number === undefined) return undefined
  const negative = sign.replaceAll('+', '').length % 2 === 1
  return { repr: negative && number !== '0' ? `-${number}` : number }
}

const simpleEscapes: Record<string, string> = {
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
}

function stringLiteral(text: string): string | undefined {
  const rawMatch = raw.exec(text)
  if (rawMatch !== null) return rawMatch[1] ?? rawMatch[2]
  const match = quoted.exec(text)
  const body = match?.[1] ?? match?.[2]
  return body?.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/g,
    (whole, x?: string, u?: string, long?: string, octal?: string, char?: string) => {
      const hex = x ?? u ?? long
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16))
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8))
      return char === '\n' ? '' : (simpleEscapes[char ?? ''] ?? whole)
    },
  )
}

/** Flat lists, sets and tuples: what fits between white space and the first colon of a check. */
function listLiteral(text: string): { repr: string } | undefined {
  const body = /^\[([^]*)\]$/.exec(text)?.[1]
  if (body === undefined) return undefined
  const items = body === '' ? [] : body.replace(/,$/, '').split(',').map(literal)
  if (items.includes(undefined)) return undefined
  return { repr: `[${items.map((item) => item?.repr).join(', ')}]` }
}

/** Says what the left side of a check is. */
export function leftSide(text: string): LeftSide {
  const value = literal(text)
  if (value !== undefined) return { kind: 'value', text: value.str ?? value.repr }
  const names = text.match(new RegExp(word, 'gu')) ?? []
  if (!expression.test(text) || names.some((name) => keywords.has(name))) return { kind: 'nonsense' }
  return { kind: 'path', path: text.split('.') }
}
