import { listInspectionRules } from '../../db/inspection-rules.ts'
import type { Task } from '../../drivers/task.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { applyRules, builtInRules, type Rule } from './engine.ts'

/**
 * Runs the rules of phase `main`: those that were made over the API and those of `[inspection_rules]built_in_rules`.
 * @throws HardwareInspectionFailure, IronicError
 */
export async function applyStoredRules(task: Task, inventory: JsonDict, pluginData: JsonDict): Promise<void> {
  const stored = await listInspectionRules(task.db, { filters: { phase: 'main' } })
  const builtIn = await builtInRules(task.config.inspection_rules.built_in_rules)
  await applyRules({ task, inventory, pluginData }, [...builtIn, ...(stored as unknown as Rule[])])
}
