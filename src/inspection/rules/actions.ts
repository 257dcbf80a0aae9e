import { addTrait, removeTrait } from '../../db/traits.ts'
import type { Task } from '../../drivers/task.ts'
import {
  HardwareInspectionFailure,
  InspectionRuleExecutionFailure,
  NodeTraitNotFound,
  PortNotFound,
  RuleActionExecutionFailure,
} from '../../errors/index.ts'
import { copy as copyJson } from '../../lib/json-patch/apply.ts'
import { str } from '../../lib/python/text.ts'
import { contains } from '../../lib/python/values.ts'
import { NodeObject } from '../../objects/node.ts'
import { PortObject, type Port } from '../../objects/port.ts'
import type { Field, JsonDict } from '../../objects/versioned-object.ts'
import { callApi } from './api-call.ts'
import type { Signature } from './arguments.ts'
import { coerce, parentOf, pathParts } from './paths.ts'

/** What an action works on, and its arguments. */
export interface ActionInput {
  readonly task: Task
  readonly pluginData: JsonDict
  readonly args: JsonDict
}

export interface Action extends Signature {
  readonly run: (input: ActionInput) => Promise<void> | void
}

type Fields = Readonly<Record<string, Field<unknown>>>

/** Sets what a path names; a path of one part is a field. A name that is no field changes nothing, as it always has. */
function setAt(target: object, fields: Fields, path: string, value: unknown): void {
  const parts = pathParts(path)
  const [name = ''] = parts
  const field = fields[name]
  const row = target as Record<string, unknown>
  if (parts.length === 1) {
    if (field !== undefined) row[name] = coerce(field, value)
    return
  }
  if (field === undefined) throw new TypeError(`there is no field "${name}"`)
  const copy = copyJson({ [name]: row[name] })
  parentOf(copy, parts, true)[parts.at(-1) ?? ''] = value
  row[name] = copy[name]
}

function extendAt(target: object, fields: Fields, path: string, value: unknown, unique: boolean): void {
  const parts = pathParts(path)
  const [name = ''] = parts
  const row = target as Record<string, unknown>
  if (fields[name] === undefined) {
    if (parts.length === 1) return
    throw new TypeError(`there is no field "${name}"`)
  }
  const copy = copyJson({ [name]: row[name] })
  const parent = parentOf(copy, parts, true)
  const last = parts.at(-1) ?? ''
  if (!Object.hasOwn(parent, last)) parent[last] = []
  append(parent[last], value, unique)
  row[name] = copy[name]
}

function append(list: unknown, value: unknown, unique: boolean): void {
  if (!Array.isArray(list)) throw new TypeError('what is there is no list')
  if (!unique || !contains(list, value)) list.push(value)
}

function deleteAt(target: object, fields: Fields, path: string): void {
  const parts = pathParts(path)
  const [name = ''] = parts
  if (fields[name] === undefined) throw new TypeError(`there is no field "${name}"`)
  // a whole field cannot be taken away
  if (parts.length === 1) return
  const row = target as Record<string, unknown>
  const copy = copyJson({ [name]: row[name] })
  const parent = parentOf(copy, parts, false)
  const last = parts.at(-1) ?? ''
  if (!Object.hasOwn(parent, last)) throw new TypeError(`there is no "${last}"`)
  delete parent[last]
  row[name] = copy[name]
}

/** The port of the node with that uuid. @throws PortNotFound */
async function portOf(task: Task, uuid: unknown): Promise<Port> {
  const port = (await task.ports()).find((candidate) => candidate.uuid === uuid)
  if (port === undefined) throw new PortNotFound({ port: str(uuid) })
  return port
}

/** Runs the change; what goes wrong is told with the action and its path. */
async function told(what: string, change: () => Promise<void> | void): Promise<void> {
  try {
    await change()
  } catch (cause) {
    if (cause instanceof PortNotFound) throw cause
    const reason = `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new RuleActionExecutionFailure({ reason }, { cause })
  }
}

type FieldChange = (target: object, fields: Fields, args: JsonDict) => void

const nodeAction = (name: string, signature: Signature, change: FieldChange): Action => ({
  ...signature,
  run: ({ task, args }) =>
    told(`${name} ${str(args.path)}`, async () => {
      change(task.node, NodeObject.fields, args)
      await task.save()
    }),
})

const portAction = (name: string, signature: Signature, change: FieldChange): Action => ({
  ...signature,
  required: ['port_id', ...signature.required],
  run: ({ task, args }) =>
    told(`${name} ${str(args.path)}`, async () => {
      const port = await portOf(task, args.port_id)
      change(port, PortObject.fields, args)
      await task.savePort(port)
    }),
})

const setting: Signature = { required: ['path', 'value'], formatted: ['value'] }
const extending: Signature = { required: ['path', 'value'], optional: ['unique'], formatted: ['value'] }
const deleting: Signature = { required: ['path'] }
const set: FieldChange = (target, fields, { path, value }) => setAt(target, fields, String(path), value)
const extend: FieldChange = (target, fields, { path, value, unique = false }) =>
  extendAt(target, fields, String(path), value, Boolean(unique))
const remove: FieldChange = (target, fields, { path }) => deleteAt(target, fields, String(path))

/** Keys of a plugin data path: a text with dots, or a list. */
const keysOf = (path: unknown): string[] => (Array.isArray(path) ? path.map(String) : String(path).split('.'))

async function changeCapabilities(task: Task, change: (text: string) => string): Promise<void> {
  const text: unknown = task.node.properties?.capabilities ?? ''
  if (typeof text !== 'string') throw new TypeError('properties.capabilities is no text')
  const changed = change(text)
  if (changed === text) return
  task.node.properties = { ...task.node.properties, capabilities: changed }
  await task.save()
}

const logLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const

/** Actions by name. */
export const actions: Readonly<Record<string, Action>> = {
  fail: {
    required: ['msg'],
    run({ args }) {
      throw new HardwareInspectionFailure(`An inspection rule failed the node: ${str(args.msg)}`)
    },
  },
  log: {
    required: ['msg'],
    optional: ['level'],
    formatted: ['msg'],
    run({ task, args: { msg, level = 'info' } }) {
      if (typeof level !== 'string') throw new TypeError('the level must be a text')
      const known = logLevels.find((name) => name === level.toLowerCase())
      if (known === undefined)
        throw new InspectionRuleExecutionFailure(`"${level}" is no log level; there are ${logLevels.join(', ')}.`)
      task.log[known](str(msg))
    },
  },
  'set-attribute': nodeAction('set-attribute', setting, set),
  'extend-attribute': nodeAction('extend-attribute', extending, extend),
  'del-attribute': nodeAction('del-attribute', deleting, remove),
  'set-capability': {
    required: ['name', 'value'],
    formatted: ['value'],
    run: ({ task, args: { name, value } }) =>
      told(`set-capability ${str(name)}`, () => {
        if (typeof name !== 'string' || typeof value !== 'string') throw new TypeError('name and value must be texts')
        return changeCapabilities(task, (text) => (text === '' ? '' : `${text},`) + `${name}:${value}`)
      }),
  },
  'unset-capability': {
    required: ['name'],
    run: ({ task, args: { name } }) =>
      told(`unset-capability ${str(name)}`, () =>
        changeCapabilities(task, (text) =>
          text
            .split(',')
            .filter((pair) => pair.split(':')[0] !== name)
            .join(','),
        ),
      ),
  },
  'add-trait': {
    required: ['name'],
    run: ({ task, args }) => told(`add-trait ${str(args.name)}`, () => addTrait(task.db, task.node.id, str(args.name))),
  },
  'remove-trait': {
    required: ['name'],
    run: ({ task, args }) =>
      told(`remove-trait ${str(args.name)}`, async () => {
        try {
          await removeTrait(task.db, task.node.id, str(args.name))
        } catch (error) {
          if (!(error instanceof NodeTraitNotFound)) throw error
          task.log.warning(`Node ${task.node.uuid} has no trait ${str(args.name)} to remove`)
        }
      }),
  },
  'set-plugin-data': {
    ...setting,
    run: ({ pluginData, args: { path, value } }) =>
      told(`set-plugin-data ${str(path)}`, () => {
        const keys = keysOf(path)
        parentOf(pluginData, keys, true)[keys.at(-1) ?? ''] = value
      }),
  },
  'extend-plugin-data': {
    ...extending,
    run: ({ pluginData, args: { path, value, unique = false } }) =>
      told(`extend-plugin-data ${str(path)}`, () => {
        const keys = keysOf(path)
        const parent = parentOf(pluginData, keys, true)
        const last = keys.at(-1) ?? ''
        if (!Object.hasOwn(parent, last) || !parent[last]) parent[last] = []
        append(parent[last], value, Boolean(unique))
      }),
  },
  'unset-plugin-data': {
    ...deleting,
    run({ task, pluginData, args: { path } }) {
      const keys = keysOf(path)
      const last = keys.at(-1) ?? ''
      let parent: Record<string, unknown> | undefined
      try {
        parent = parentOf(pluginData, keys, false)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
      if (parent !== undefined && Object.hasOwn(parent, last)) delete parent[last]
      else task.log.warning(`The plugin data of node ${task.node.uuid} has no ${str(path)} to unset`)
    },
  },
  'set-port-attribute': portAction('set-port-attribute', setting, set),
  'extend-port-attribute': portAction('extend-port-attribute', extending, extend),
  'del-port-attribute': portAction('del-port-attribute', deleting, remove),
  'api-call': {
    required: ['url'],
    optional: ['headers', 'proxies', 'timeout', 'retries', 'backoff_factor'],
    formatted: ['url'],
    run: ({ task, args }) => told(`api-call ${str(args.url)}`, () => callApi(task, args)),
  },
}
