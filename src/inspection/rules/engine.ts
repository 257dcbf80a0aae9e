import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Task } from '../../drivers/task.ts'
import { HardwareInspectionFailure, IronicError } from '../../errors/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { actions } from './actions.ts'
import { asAttributes, boundArguments, type RuleContext } from './arguments.ts'
import { operators, parseOperator } from './operators.ts'
import { validateRule } from './validate.ts'

interface Statement {
  readonly op: string
  readonly args: unknown
  readonly loop?: unknown[] | JsonDict
  readonly multiple?: 'any' | 'all' | 'first' | 'last'
}

export interface Rule {
  readonly uuid: string
  readonly priority: number
  readonly sensitive: boolean
  readonly conditions: readonly Statement[]
  readonly actions: readonly Statement[]
}

const secretFields: readonly string[] = ['password', 'auth_token', 'bmc_password']

/** A copy in which secrets are stars. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, secretFields.includes(key) ? '***' : masked(member)]),
  )
}

/** The items of a loop; an object is one item. Undefined: there is no loop. */
function loopItems({ loop }: Statement): unknown[] | undefined {
  if (Array.isArray(loop)) return loop.length > 0 ? loop : undefined
  return loop !== undefined && Object.keys(loop).length > 0 ? [loop] : undefined
}

function holds(condition: Statement, context: RuleContext): boolean {
  const { name, inverted } = parseOperator(condition.op)
  const operator = operators[name]
  if (operator === undefined) throw new TypeError(`"${name}" is no operator`)
  const args = boundArguments(name, operator, condition.args, context)
  // inside a loop numbers have become texts
  if ('item' in context && operator.optional?.includes('force_strings')) args.force_strings = true
  return operator.check(args) !== inverted
}

function conditionHolds(condition: Statement, context: RuleContext): boolean {
  const items = loopItems(condition)
  if (items === undefined) return holds(condition, context)
  const check = (item: unknown) => holds(condition, { ...context, item })
  switch (condition.multiple ?? 'any') {
    case 'all':
      return items.map(check).every(Boolean)
    case 'first':
      return check(items[0]) || items.slice(1).some(check)
    case 'last':
      return items.map(check).at(-1) ?? false
    default:
      return items.map(check).some(Boolean)
  }
}

interface RuleData {
  readonly task: Task
  readonly inventory: JsonDict
  readonly pluginData: JsonDict
}

async function act(action: Statement, data: RuleData, context: () => RuleContext): Promise<void> {
  const known = actions[action.op]
  if (known === undefined) throw new TypeError(`"${action.op}" is no action`)
  for (const item of loopItems(action) ?? [undefined]) {
    const own = item === undefined ? context() : { ...context(), item }
    await known.run({ ...data, args: boundArguments(action.op, known, action.args, own) })
  }
}

async function applyRule(rule: Rule, data: RuleData): Promise<void> {
  const { task, inventory, pluginData } = data
  const mode = task.config.inspection_rules.mask_secrets
  const hide = mode === 'always' || (mode === 'sensitive' && !rule.sensitive)
  // actions change the node and the plugin data, and the next one sees that
  const context = (): RuleContext => ({
    node: asAttributes(task.node),
    inventory: hide ? masked(inventory) : inventory,
    plugin_data: hide ? masked(pluginData) : pluginData,
  })
  const now = context()
  if (!rule.conditions.every((condition) => conditionHolds(condition, now))) return
  task.log.info(`Inspection rule ${rule.uuid} applies to node ${task.node.uuid}`)
  for (const action of rule.actions) await act(action, data, context)
}

/** Runs the rules, highest priority first. @throws HardwareInspectionFailure, IronicError: the inspection fails */
export async function applyRules(data: RuleData, rules: readonly Rule[]): Promise<void> {
  for (const rule of rules.toSorted((a, b) => b.priority - a.priority)) {
    try {
      await applyRule(rule, data)
    } catch (cause) {
      if (cause instanceof IronicError) throw cause
      const text = cause instanceof Error ? cause.message : String(cause)
      throw new IronicError(`Inspection rule ${rule.uuid} failed on node ${data.task.node.uuid}: ${text}`, { cause })
    }
  }
}

/**
 * The rules of `[inspection_rules]built_in_rules`, a YAML list; rules without a uuid get one by their place.
 * @throws HardwareInspectionFailure when the file cannot be used
 */
export async function builtInRules(file: string | null): Promise<Rule[]> {
  if (file === null || file === '') return []
  let unnamed = 0
  try {
    const list: unknown = parse(await readFile(file, 'utf8'))
    if (!Array.isArray(list)) throw new TypeError('it must hold a list of rules')
    return (list as JsonDict[]).map((rule) => {
      const { uuid, priority = 0, sensitive = false, phase = 'main', conditions = [], actions: steps = [] } = rule
      validateRule({ priority, phase, conditions, actions: steps }, { builtIn: true })
      const ownUuid = uuid ?? `00000000-0000-0000-0000-${(unnamed++).toString(16).padStart(12, '0')}`
      return { uuid: ownUuid, priority, sensitive, conditions, actions: steps }
    })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new HardwareInspectionFailure(`[inspection_rules]built_in_rules: ${file} cannot be used: ${reason}`, {
      cause,
    })
  }
}
