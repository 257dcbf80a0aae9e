import { pythonSpace } from '../python/text.ts'
import { allOf, always, anyOf, never, type Check } from './check.ts'

/** A rule that is not even a rule: the file that holds it cannot be used. */
export class InvalidRule extends Error {
  override readonly name = 'InvalidRule'
}

type Token =
  | { readonly word: 'and' | 'or' | 'not' | '(' | ')' | 'text' }
  | { readonly word: 'check'; readonly check: Check }

const spaces = new RegExp(`[${pythonSpace}]+`)
const keywords: ReadonlySet<string> = new Set(['and', 'or', 'not'])

/** One check: `@`, `!`, or left and right of the first colon. Anything else is never met, as oslo.policy has it. */
function parseCheck(text: string): Check {
  if (text === '@') return always
  const colon = text.indexOf(':')
  return colon < 0 ? never : { kind: 'match', left: text.slice(0, colon), right: text.slice(colon + 1) }
}

/** Parentheses count only at the edges of a word, since `%(name)s` holds some. A word in quotes is no check. */
function* tokens(rule: string): Generator<Token> {
  for (const word of rule.split(spaces)) {
    const opening = /^\(*/.exec(word)?.[0].length ?? 0
    for (let i = 0; i < opening; i++) yield { word: '(' }
    const rest = word.slice(opening)
    const clean = rest.replace(/\)+$/, '')
    const lowered = clean.toLowerCase()
    if (keywords.has(lowered)) yield { word: lowered as 'and' | 'or' | 'not' }
    else if (/^(["'])[^]*\1$/.test(rest) && rest.length > 1) yield { word: 'text' }
    else if (clean !== '') yield { word: 'check', check: parseCheck(clean) }
    for (let i = clean.length; i < rest.length; i++) yield { word: ')' }
  }
}

/** Recursive descent over `or` < `and` < `not`; `undefined` where the text is no expression. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(rule: string) {
    this.#tokens = [...tokens(rule)]
  }

  whole(): Check | undefined {
    const check = this.#either()
    return this.#at === this.#tokens.length ? check : undefined
  }

  #takes(word: Token['word']): boolean {
    const taken = this.#tokens[this.#at]?.word === word
    if (taken) this.#at += 1
    return taken
  }

  #either(): Check | undefined {
    return this.#series('or', () => this.#series('and', () => this.#single(), allOf), anyOf)
  }

  #series(word: 'and' | 'or', next: () => Check | undefined, join: (checks: Check[]) => Check): Check | undefined {
    const checks: Check[] = []
    do {
      const check = next()
      if (check === undefined) return undefined
      checks.push(check)
    } while (this.#takes(word))
    return join(checks)
  }

  #single(): Check | undefined {
    if (this.#takes('not')) {
      const check = this.#single()
      return check && { kind: 'not', check }
    }
    if (this.#takes('(')) {
      const check = this.#either()
      return this.#takes(')') ? check : undefined
    }
    const token = this.#tokens[this.#at]
    if (token?.word !== 'check') return undefined
    this.#at += 1
    return token.check
  }
}

/** The old form: a list of lists, the outer one joined by "or", the inner ones by "and". What is no text is never met. */
function parseList(rule: readonly unknown[]): Check {
  const options = rule.flatMap((inner): Check[] => {
    if (isEmpty(inner)) return []
    const texts = typeof inner === 'string' ? [inner] : Array.isArray(inner) ? (inner as unknown[]) : undefined
    if (texts === undefined && typeof inner !== 'object') {
      throw new InvalidRule('A rule in list form must hold texts, or lists of texts.')
    }
    const checks = texts ?? Object.keys(inner as object)
    return [allOf(checks.map((text) => (typeof text === 'string' ? parseCheck(text) : never)))]
  })
  return options.length === 0 ? never : anyOf(options)
}

/** What Python takes for false. */
const isEmpty = (value: unknown): boolean => !value || (typeof value === 'object' && Object.keys(value).length === 0)

/**
 * Parses a rule of a policy file or of a table of defaults. A text that is no expression is never met; an empty one always is.
 * @throws InvalidRule when it is neither text, list nor empty
 */
export function parseRule(rule: unknown): Check {
  if (typeof rule === 'string') {
    if (rule === '') return always
    return new Parser(rule).whole() ?? never
  }
  if (isEmpty(rule)) return always
  if (!Array.isArray(rule))
    throw new InvalidRule(`A rule must be a text such as "role:admin", not ${JSON.stringify(rule)}.`)
  return parseList(rule)
}
