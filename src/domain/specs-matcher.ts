/**
 * Comparisons written as text, the language of oslo.utils' `specs_matcher`: an operator and its values, or a bare word that
 * must be equal. `>= 60`, `s== big`, `<in> ssd`, `<or> a <or> b`, `<all-in> x y`, `<range-in> [ 10 20 )`.
 */

/** The value or the specification makes no sense for the operator. */
export class SpecificationError extends Error {
  override readonly name = 'SpecificationError'
}

/** In the order in which they are tried: `=` after `==`. */
const unaryOperators = ['==', '=', '!=', '<in>', '>=', '<=', '>', '<', 's==', 's!=', 's<=', 's<', 's>=', 's>']
const operators = [...unaryOperators, '<all-in>', '<or>', '<range-in>']

class Reader {
  readonly #text: string
  #at = 0
  constructor(text: string) {
    this.#text = text
  }
  #skipBlanks() {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at++
  }
  operator(among: readonly string[]): string | undefined {
    this.#skipBlanks()
    const found = among.find((operator) => this.#text.startsWith(operator, this.#at))
    if (found !== undefined) this.#at += found.length
    return found
  }
  /** A word that does not begin like an operator. */
  word(): string | undefined {
    this.#skipBlanks()
    if (operators.some((operator) => this.#text.startsWith(operator, this.#at))) return undefined
    const [word] = /^\S+/.exec(this.#text.slice(this.#at)) ?? []
    if (word !== undefined) this.#at += word.length
    return word
  }
}

function disjunction(text: string): string[] | undefined {
  const reader = new Reader(text)
  const words: string[] = []
  while (reader.operator(['<or>']) !== undefined) {
    const word = reader.word()
    if (word === undefined) break
    words.push(word)
  }
  return words.length > 0 ? ['<or>', ...words] : undefined
}

function operatorThenWords(text: string, among: readonly string[], least: number, most: number): string[] | undefined {
  const reader = new Reader(text)
  const operator = reader.operator(among)
  if (operator === undefined) return undefined
  const words: string[] = []
  while (words.length < most) {
    const word = reader.word()
    if (word === undefined) break
    words.push(word)
  }
  return words.length >= least ? [operator, ...words] : undefined
}

/**
 * Operator and values; a bare word alone when there is no operator. What follows is passed over.
 * @returns undefined when the text is neither
 */
export function specificationTokens(text: string): string[] | undefined {
  const bare = () => {
    const word = new Reader(text).word()
    return word === undefined ? undefined : [word]
  }
  return (
    disjunction(text) ??
    operatorThenWords(text, ['<all-in>'], 1, Infinity) ??
    operatorThenWords(text, ['<range-in>'], 4, 4) ??
    operatorThenWords(text, unaryOperators, 1, 1) ??
    bare()
  )
}

type Value = string | number

const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCodePoint(code))

/** Decimal digits of any script as ASCII digits, as Python reads numbers. Unicode keeps each script's ten in a row. */
export const asciiDigits = (text: string): string =>
  text.replaceAll(/(?!\d)\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!
    let zero = code
    while (isDigit(zero - 1)) zero--
    return String((code - zero) % 10)
  })

function numberOf(value: Value): number {
  if (typeof value === 'number') return value
  const text = asciiDigits(value.trim())
  if (/^[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(e[+-]?\d+)?$/i.test(text)) return Number(text.replaceAll('_', ''))
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^[+-]?nan$/i.test(text)) return NaN
  throw new SpecificationError(`"${value}" is not a number`)
}

function textOf(value: Value): string {
  if (typeof value === 'string') return value
  throw new SpecificationError(`the number ${value} cannot be compared as text`)
}

/** By code point, as Python orders text. */
function order(a: string, b: string): number {
  const left = Array.from(a)
  const right = Array.from(b)
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const difference = left[at]!.codePointAt(0)! - right[at]!.codePointAt(0)!
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** `['aes', 'mmx']`: the members that are text. */
function listOf(text: string): string[] {
  const inside = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1]
  if (inside === undefined) throw new SpecificationError("<all-in> compares with a list such as ['aes', 'mmx']")
  const member = /^\s*(?:'([^'\\]*)'|"([^"\\]*)"|[\w.+-]+)\s*(,|$)/
  const members: string[] = []
  for (let rest = inside; rest.trim() !== '';) {
    const found = member.exec(rest)
    if (found === null) throw new SpecificationError('<all-in> compares with a list of quoted words')
    const word = found[1] ?? found[2]
    if (word !== undefined) members.push(word)
    rest = rest.slice(found[0].length)
  }
  return members
}

function inRange(value: Value, [open, from, to, close]: readonly string[]): boolean {
  const number = numberOf(value)
  const low = numberOf(from ?? '')
  const high = numberOf(to ?? '')
  if (low > high) throw new SpecificationError('<range-in> wants the smaller number first')
  if (open !== '[' && open !== '(') throw new SpecificationError('<range-in> begins with [ or (')
  if (close !== ']' && close !== ')') throw new SpecificationError('<range-in> ends with ] or )')
  return (open === '[' ? number >= low : number > low) && (close === ']' ? number <= high : number < high)
}

const compare: Readonly<Record<string, (value: Value, ...words: string[]) => boolean>> = {
  // the old meaning of "=" is "at least"
  '=': (value, word) => numberOf(value) >= numberOf(word),
  '==': (value, word) => numberOf(value) === numberOf(word),
  '!=': (value, word) => numberOf(value) !== numberOf(word),
  '<=': (value, word) => numberOf(value) <= numberOf(word),
  '<': (value, word) => numberOf(value) < numberOf(word),
  '>=': (value, word) => numberOf(value) >= numberOf(word),
  '>': (value, word) => numberOf(value) > numberOf(word),
  's==': (value, word) => value === word,
  's!=': (value, word) => value !== word,
  's<': (value, word) => order(textOf(value), word) < 0,
  's<=': (value, word) => order(textOf(value), word) <= 0,
  's>': (value, word) => order(textOf(value), word) > 0,
  's>=': (value, word) => order(textOf(value), word) >= 0,
  '<in>': (value, word) => textOf(value).includes(word),
  '<or>': (value, ...words) => words.some((word) => value === word),
  '<all-in>': (value, ...words) => {
    const members = listOf(textOf(value))
    return words.every((word) => members.includes(word))
  },
  '<range-in>': (value, ...words) => inRange(value, words),
}

/**
 * Does the value fit the specification? One that cannot be parsed is compared as it is.
 * @throws SpecificationError
 */
export function specificationMatches(value: Value, specification: string): boolean {
  const [first, ...words] = specificationTokens(specification) ?? [specification]
  return words.length === 0 ? first === value : compare[first!]!(value, ...words)
}
