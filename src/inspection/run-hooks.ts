import { HardwareInspectionFailure, IronicError } from '../errors/index.ts'
import { inspectionHooks } from './hooks/index.ts'
import type { HookInput, InspectionHook } from './hooks/hook.ts'

/**
 * The hooks that an option names, in its order.
 * @throws HardwareInspectionFailure when a name is not known or a hook stands before one that it depends on
 */
export function hooksNamed(option: string, names: readonly string[]): InspectionHook[] {
  const faults: string[] = []
  const chosen: InspectionHook[] = []
  for (const name of names) {
    const hook = inspectionHooks.find((candidate) => candidate.name === name)
    if (hook === undefined) {
      faults.push(`there is no hook ${name}`)
      continue
    }
    const missing = (hook.dependencies ?? []).filter((wanted) => !chosen.some((before) => before.name === wanted))
    if (missing.length > 0) faults.push(`${name} needs ${missing.join(', ')} before it`)
    chosen.push(hook)
  }
  if (faults.length > 0) throw new HardwareInspectionFailure(`${option}: ${faults.join('; ')}.`)
  return chosen
}

/** The names of a comma-separated option. */
export const hookNames = (value: string): string[] =>
  value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/**
 * Runs `preprocess` of all hooks, whose failures are told together, then `run` of each.
 * @throws HardwareInspectionFailure when a hook fails
 */
export async function runHooks(input: HookInput, hooks: readonly InspectionHook[]): Promise<void> {
  const faults: string[] = []
  for (const hook of hooks) {
    try {
      await hook.preprocess?.(input)
    } catch (error) {
      input.task.log.error(`Hook ${hook.name} refused the data of node ${input.task.node.uuid}`, { error })
      faults.push(`${hook.name}: ${textOf(error)}`)
    }
  }
  if (faults.length > 0) throw new HardwareInspectionFailure(`Inspection data was refused: ${faults.join('; ')}`)
  for (const hook of hooks) {
    try {
      await hook.run?.(input)
    } catch (cause) {
      if (cause instanceof HardwareInspectionFailure) throw cause
      if (!(cause instanceof IronicError))
        input.task.log.error(`Hook ${hook.name} failed on node ${input.task.node.uuid}`, { error: cause })
      throw new HardwareInspectionFailure(`Inspection hook ${hook.name} failed: ${textOf(cause)}`, { cause })
    }
  }
}
