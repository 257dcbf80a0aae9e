import { NodeConsoleNotEnabled } from '../../errors/node.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const consoleMethods = (parts: ServiceParts): Methods<'get_console_information' | 'set_console_mode'> => ({
  get_console_information: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'reading the console', async (task) => {
      if (!task.node.console_enabled) throw new NodeConsoleNotEnabled({ node: task.node.uuid })
      await task.driver.console.validate(task)
      return task.driver.console.getConsole(task)
    }),
  set_console_mode: (context, { node_id, enabled }) =>
    parts.tasks.background<void>(
      context,
      node_id,
      'console mode change',
      async (task) => {
        await task.driver.console.validate(task)
        if (enabled === task.node.console_enabled) return
        await task.upgradeLock()
        task.node.last_error = null
        await task.save()
        return background(() => setConsole(task, enabled))
      },
      { shared: true },
    ),
})

async function setConsole(task: ConductorTask, enabled: boolean): Promise<void> {
  const { node, driver } = task
  task.emit('node.console_set', 'start')
  try {
    await (enabled ? driver.console.startConsole(task) : driver.console.stopConsole(task))
  } catch (error) {
    const message = `The console of node ${node.uuid} could not be ${enabled ? 'started' : 'stopped'}: ${messageOf(error)}`
    task.log.error(message, { error })
    await task.addHistory(message, 'console')
    await task.save()
    task.emit('node.console_set', 'error')
    return
  }
  node.console_enabled = enabled
  node.last_error = null
  await task.save()
  task.emit('node.console_set', 'end')
}
