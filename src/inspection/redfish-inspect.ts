import { storeNodeInventory } from '../db/node-inventory.ts'
import { InspectInterface } from '../drivers/interfaces/driver.ts'
import { Bmcs } from '../drivers/redfish/bmcs.ts'
import { redfishProperties } from '../drivers/redfish/driver-info.ts'
import { type HardwareFacts, readInventory } from '../drivers/redfish/inventory.ts'
import type { DriverParts, Task } from '../drivers/task.ts'
import { SwiftOperationError } from '../errors/image.ts'
import { HardwareInspectionFailure } from '../errors/driver.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import type { SystemResource } from '../lib/redfish/computer-system.ts'
import type { InspectionHook } from './hooks/hook.ts'
import { applyStoredRules } from './rules/stored.ts'
import { hookNames, hooksNamed, runHooks } from './run-hooks.ts'

/** Properties that an inspection must have found, or the node had before. */
const essential = ['memory_mb', 'local_gb', 'cpu_arch'] as const

/** Inspects out of band: what the BMC tells goes through the hooks and the rules as if an agent had sent it. */
export class RedfishInspect extends InspectInterface {
  readonly name: string = 'redfish'
  protected readonly bmcs: Bmcs
  private readonly hooks: readonly InspectionHook[]

  /** @throws HardwareInspectionFailure when `[redfish]inspection_hooks` cannot be used */
  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
    this.hooks = hooksNamed('[redfish]inspection_hooks', hookNames(parts.config.redfish.inspection_hooks))
  }

  override properties() {
    return redfishProperties
  }

  async validate(task: Task): Promise<void> {
    this.bmcs.checkDriverInfo(task)
  }

  async inspectHardware(task: Task): Promise<void> {
    const { node } = task
    const facts = await this.bmcs.withSystem(task, 'inspect', async (system) => {
      const read = await readInventory(task, system)
      await this.adjust(task, system, read)
      return read
    })
    const { inventory } = facts
    node.properties = { ...node.properties, ...facts.properties }
    await runHooks({ task, inventory, pluginData: facts.pluginData }, this.hooks)
    await store(task, inventory, facts.pluginData)
    await applyStoredRules(task, inventory, facts.pluginData)
    const missing = essential.filter((name) => !Object.hasOwn(node.properties ?? {}, name))
    if (missing.length > 0)
      throw new HardwareInspectionFailure({
        error: `the BMC of node ${node.uuid} does not tell ${missing.join(', ')}; set them in its properties, or inspect it with the agent`,
      })
    await task.save()
  }

  /** Hook of variants: what a maker's BMC tells beside the standard. */
  protected adjust(_task: Task, _system: SystemResource, _facts: HardwareFacts): Promise<void> {
    return Promise.resolve()
  }
}

async function store(task: Task, inventory: JsonDict, pluginData: JsonDict): Promise<void> {
  const { data_backend: backend } = task.config.inventory
  if (backend === 'none') return
  if (backend === 'swift')
    throw new SwiftOperationError({
      operation: 'storing the inventory',
      error: 'this release keeps it in the database only; set [inventory]data_backend to database',
    })
  await storeNodeInventory(task.db, task.node.id, { inventory_data: inventory, plugin_data: pluginData })
}
