import { storeInspectionData } from './inspection-data.ts'
import { internalTime, setInternal } from '../../domain/internal-info.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { cacheFirmware } from '../node-cache.ts'
import { messageOf } from '../power-action.ts'
import { failInspection } from './fail.ts'
import { wipeAgentSession } from './leftovers.ts'

/** Inspects a node in `inspecting`. */
export async function inspectNode(task: ConductorTask): Promise<void> {
  wipeAgentSession(task)
  let outcome: 'wait' | void
  try {
    outcome = await task.driver.inspect.inspectHardware(task)
  } catch (error) {
    return failInspection(task, {
      message: `Node ${task.node.uuid} could not be inspected: ${messageOf(error)}`,
      cause: error,
    })
  }
  await task.fire(outcome === 'wait' ? 'wait' : 'done')
}

/** `abort` in `inspect wait`. @throws UnsupportedDriverExtension when the interface cannot */
export async function abortInspection(task: ConductorTask): Promise<void> {
  const { node } = task
  try {
    await task.driver.inspect.abort(task)
  } catch (error) {
    if (error instanceof UnsupportedDriverExtension) throw error
    await task.addHistory(
      `The inspection of node ${node.uuid} could not be aborted: ${messageOf(error)}`,
      'introspection',
    )
    await task.save()
    throw error
  }
  await task.addHistory(`By request, the inspection of node ${node.uuid} was aborted.`, 'introspection')
  wipeAgentSession(task)
  if (node.provision_state === 'inspect failed') await task.save()
  else await task.fire('abort')
}

/** The ramdisk has reported. The node is in `inspecting`, or in `enroll` when it was discovered. */
export async function continueInspection(
  task: ConductorTask,
  inventory: JsonDict,
  pluginData: JsonDict | null,
): Promise<void> {
  const { node } = task
  const data = pluginData ?? {}
  setInternal(node, 'agent_last_heartbeat', internalTime(task.clock.now()))
  await task.save()
  try {
    if ((await task.driver.inspect.continueInspection(task, inventory, data)) === 'wait') {
      if (node.provision_state === 'inspecting') await task.fire('wait')
      return
    }
    await task.tasks.parts.applyInspectionRules?.(task, inventory, data)
    delete data['logs']
    await storeInspectionData(task, inventory, data)
  } catch (error) {
    return failInspection(task, {
      message: `The inspection of node ${node.uuid} could not be finished: ${messageOf(error)}`,
      cause: error,
      setFailState: node.provision_state !== 'enroll',
    })
  }
  if (node.provision_state === 'enroll') {
    await task.save()
    return
  }
  await cacheFirmware(task)
  await task.fire('done')
}
