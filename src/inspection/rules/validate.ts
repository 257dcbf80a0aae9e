import { Invalid } from '../../errors/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { actions } from './actions.ts'
import { namedArguments } from './arguments.ts'
import { operators, parseOperator } from './operators.ts'

/** The phases that rules run in. */
export const inspectionPhases = ['main'] as const

const isDict = (value: unknown): value is JsonDict =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const multiples = ['any', 'all', 'first', 'last']

function checkLoop(what: string, item: JsonDict): void {
  if ('loop' in item && (typeof item.loop !== 'object' || item.loop === null))
    throw new Invalid(`${what}: "loop" must be a list or an object.`)
}

function checkCondition(condition: unknown, i: number): void {
  const what = `conditions[${i}]`
  if (!isDict(condition) || typeof condition.op !== 'string' || !('args' in condition))
    throw new Invalid(`${what} must be an object with "op" and "args".`)
  const operator = /^!?[a-z]/.test(condition.op) ? operators[parseOperator(condition.op).name] : undefined
  if (operator === undefined)
    throw new Invalid(
      `${what}: "${condition.op}" is no operator; there are ${Object.keys(operators).join(', ')}, each with "!".`,
    )
  if ('multiple' in condition && !multiples.includes(condition.multiple as string))
    throw new Invalid(`${what}: "multiple" must be one of ${multiples.join(', ')}.`)
  checkLoop(what, condition)
  namedArguments(condition.op, operator, condition.args)
}

function checkAction(action: unknown, i: number): void {
  const what = `actions[${i}]`
  if (!isDict(action) || typeof action.op !== 'string' || !('args' in action))
    throw new Invalid(`${what} must be an object with "op" and "args".`)
  const known = Object.hasOwn(actions, action.op) ? actions[action.op] : undefined
  if (known === undefined)
    throw new Invalid(`${what}: "${action.op}" is no action; there are ${Object.keys(actions).join(', ')}.`)
  checkLoop(what, action)
  namedArguments(action.op, known, action.args)
}

/**
 * Checks what a rule says: phase, priority, operators, actions and their arguments. Users' rules have priorities of 0 to 9999;
 * built-in ones may have any.
 * @throws Invalid, InspectionRuleValidationFailure with what is wrong and what is allowed
 */
export function validateRule(rule: JsonDict, { builtIn = false } = {}): void {
  const { phase = 'main', priority = 0, conditions = [], actions: wanted } = rule
  if (!inspectionPhases.includes(phase as 'main'))
    throw new Invalid(`The phase of a rule must be one of ${inspectionPhases.join(', ')}.`)
  if (typeof priority !== 'number' || !Number.isInteger(priority) || (!builtIn && (priority < 0 || priority > 9999)))
    throw new Invalid('The priority of a rule must be a whole number from 0 to 9999.')
  if (!Array.isArray(conditions)) throw new Invalid('"conditions" must be a list.')
  if (!Array.isArray(wanted) || wanted.length === 0)
    throw new Invalid('"actions" must be a list with at least one member.')
  conditions.forEach(checkCondition)
  wanted.forEach(checkAction)
}
