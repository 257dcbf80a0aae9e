import { storeNodeInventory } from '../../db/node-inventory.ts'
import { SwiftOperationError } from '../../errors/image.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { ConductorTask } from '../conductor-task.ts'

/** Keeps what the inspection found where `[inventory]data_backend` says. */
export async function storeInspectionData(
  task: ConductorTask,
  inventory: JsonDict,
  pluginData: JsonDict,
): Promise<void> {
  const { data_backend: backend } = task.config.inventory
  if (backend === 'none') return
  const keep = task.tasks.parts.storeInventory
  if (backend === 'swift') {
    if (keep !== undefined) return keep(task, inventory, pluginData)
    throw new SwiftOperationError('Inventories cannot be kept in Swift here; set [inventory]data_backend to database.')
  }
  await storeNodeInventory(task.db, task.node.id, { inventory_data: inventory, plugin_data: pluginData })
}
