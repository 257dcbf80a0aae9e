import type { ConductorTask } from '../conductor-task.ts'
import { interfaceNameOf } from '../../drivers/factory.ts'
import { messageOf } from '../power-action.ts'
import { restoreConsole } from './console.ts'
import { noteImageType } from './deploy.ts'

/** Adopts a node in `adopting`: a machine with an instance that others have put there. */
export async function adoptNode(task: ConductorTask): Promise<void> {
  const { node } = task
  try {
    noteImageType(task)
    // what boots from its own disk needs no boot images of ours
    if (networkBooted.includes(interfaceNameOf(node, 'deploy'))) await task.driver.boot.validate(task)
    await takeOver(task)
  } catch (error) {
    const message = `Node ${node.uuid} could not be adopted: ${messageOf(error)}`
    task.log.error(message, { error })
    await task.driver.deploy.restoreInterface(task)
    node.power_state = null
    await task.addHistory(message, 'adoption')
    return task.fire('fail')
  }
  await task.fire('done')
}

/** These deploy interfaces run the instance from the network; all others boot its disk. */
const networkBooted: readonly (string | null)[] = ['ramdisk', 'anaconda']

/** Makes this conductor the one that serves the node's boot files and console. */
export async function takeOver(task: ConductorTask): Promise<void> {
  await task.driver.deploy.switchInterface(task)
  await task.driver.deploy.prepare(task)
  await task.driver.deploy.takeOver(task)
  await restoreConsole(task, 'takeover')
  task.node.conductor_affinity = task.tasks.parts.conductorId
  await task.save()
}
