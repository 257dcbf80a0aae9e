import { readExpression } from '../python/expression.ts'

/**
 * What stands before the colon of a check: a value such as `None`, `'public'` or `5`, or the name of a credential. oslo.policy
 * asks Python: what it can evaluate is a value, any other expression a path, the rest cannot be checked.
 */
export type LeftSide =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'path'; readonly path: readonly string[] }
  | { readonly kind: 'nonsense' }

/** Says what the left side of a check is. */
export function leftSide(text: string): LeftSide {
  const expression = readExpression(text)
  if (expression.kind === 'literal') return { kind: 'value', text: expression.str }
  return expression.kind === 'other' ? { kind: 'path', path: text.split('.') } : { kind: 'nonsense' }
}
