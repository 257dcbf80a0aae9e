import type { ConductorTask } from '../conductor-task.ts'
import { powerAction, setBootDevice } from '../power-action.ts'

/** Changes networks with the node powered, where its NICs need that (smart NICs); afterwards it is as it was. */
export async function withNetworkPower<T>(task: ConductorTask, work: () => Promise<T>): Promise<T> {
  if (!task.driver.network.needPowerOn(task)) return work()
  const before = await task.driver.power.getPowerState(task)
  if (before !== 'power off') return work()
  await setBootDevice(task, 'bios', false)
  await powerAction(task, 'power on')
  try {
    return await work()
  } finally {
    await task.clock.sleep(task.config.agent.neutron_agent_poll_interval * 2000, task.signal)
    await powerAction(task, before)
  }
}
