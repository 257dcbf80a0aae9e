import { messageOf } from '../power-action.ts'
import type { ConductorTask } from '../conductor-task.ts'

/**
 * Starts the console of a node that shall have one. A console that cannot start is switched off; it is no reason to fail
 * what goes on around it.
 * @param historyType where the failure is noted
 */
export async function restoreConsole(task: ConductorTask, historyType = 'console'): Promise<void> {
  const { node } = task
  if (!node.console_enabled) return
  task.emit('node.console_restore', 'start')
  try {
    await task.driver.console.startConsole(task)
  } catch (error) {
    const message = `The console of node ${node.uuid} could not be started, so it is switched off: ${messageOf(error)}`
    task.log.error(message)
    await task.addHistory(message, historyType)
    node.console_enabled = false
    await task.save()
    task.emit('node.console_restore', 'error')
    return
  }
  task.emit('node.console_restore', 'end')
}

/** Stops the console of a node that has one. @throws what the driver throws */
export async function stopConsole(task: ConductorTask): Promise<void> {
  if (!task.node.console_enabled) return
  task.emit('node.console_set', 'start')
  try {
    await task.driver.console.stopConsole(task)
  } catch (error) {
    task.emit('node.console_set', 'error')
    throw error
  }
  task.emit('node.console_set', 'end')
}
