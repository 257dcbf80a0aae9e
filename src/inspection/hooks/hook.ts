import type { Task } from '../../drivers/task.ts'
import { InvalidNodeInventory } from '../../errors/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'

/** What a hook works on. The inventory is what the ramdisk sent and stays as it is; plugin data may be changed. */
export interface HookInput {
  readonly task: Task
  readonly inventory: Readonly<JsonDict>
  readonly pluginData: JsonDict
}

/** A step of processing inspection data. `preprocess` of all hooks runs before `run` of the first. */
export interface InspectionHook {
  readonly name: string
  /** hooks that must stand before this one in the option */
  readonly dependencies?: readonly string[]
  readonly preprocess?: (input: HookInput) => void | Promise<void>
  readonly run?: (input: HookInput) => void | Promise<void>
}

const isDict = (value: unknown): value is JsonDict =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Refuses the inventory of the task's node. */
export const badInventory = ({ task }: HookInput, reason: string): Error =>
  new InvalidNodeInventory({ node: task.node.uuid, reason })

/** The object under that key; `{}` when the key is not there. @throws InvalidNodeInventory when it is something else */
export function dictOf(input: HookInput, key: string): JsonDict {
  const value: unknown = input.inventory[key] ?? (key in input.inventory ? null : {})
  if (!isDict(value)) throw badInventory(input, `"${key}" must be an object`)
  return value
}

/** The list of objects under that key. @throws InvalidNodeInventory when there is none */
export function dictsOf(input: HookInput, key: string, data: Readonly<JsonDict> = input.inventory): JsonDict[] {
  const value: unknown = data[key]
  if (!Array.isArray(value) || !value.every(isDict)) throw badInventory(input, `"${key}" must be a list of objects`)
  return value
}

/** A text that must be there. @throws InvalidNodeInventory */
export function textOf(input: HookInput, item: JsonDict, key: string): string {
  const value: unknown = item[key]
  if (typeof value !== 'string') throw badInventory(input, `"${key}" is missing in ${JSON.stringify(item)}`)
  return value
}
