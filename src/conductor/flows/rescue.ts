import { dropInternal } from '../../domain/internal-info.ts'
import type { Node } from '../../objects/index.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { wipeAgentSession } from './leftovers.ts'

export function dropRescuePassword(node: Node): void {
  const { rescue_password: _plain, hashed_rescue_password: _hashed, ...rest } = node.instance_info ?? {}
  node.instance_info = rest
}

/** Rescues a node in `rescuing`. */
export async function rescueNode(task: ConductorTask): Promise<void> {
  let outcome: 'wait' | void
  try {
    outcome = await task.driver.rescue.rescue(task)
  } catch (error) {
    dropRescuePassword(task.node)
    return failed(task, 'rescued', error)
  }
  await task.fire(outcome === 'wait' ? 'wait' : 'done')
}

/** Brings a node in `unrescuing` back to its instance. */
export async function unrescueNode(task: ConductorTask): Promise<void> {
  try {
    await task.driver.rescue.unrescue(task)
  } catch (error) {
    return failed(task, 'taken out of rescue', error)
  }
  wipeAgentSession(task)
  dropInternal(task.node, ['agent_url'])
  await task.fire('done')
}

async function failed(task: ConductorTask, what: string, error: unknown): Promise<void> {
  const message = `Node ${task.node.uuid} could not be ${what}: ${messageOf(error)}`
  task.log.error(message, { error })
  await task.addHistory(message, 'rescue')
  await task.fire('fail')
}
