import type { Task } from '../task.ts'

/**
 * Runs a change of the node's networks. A node with a Smart NIC must be on for it; it is switched on into its firmware and
 * put back afterwards.
 */
export async function withNetworkPower<T>(task: Task, change: () => Promise<T>): Promise<T> {
  if (!task.driver.network.needPowerOn(task)) return await change()
  const before = await task.driver.power.getPowerState(task)
  if (before !== 'power off') return await change()
  await task.setBootDevice('bios', false)
  await task.powerAction('power on')
  const result = await change()
  // the NIC's own agent applies changes at its polling interval
  await task.clock.sleep(task.config.agent.neutron_agent_poll_interval * 2000, task.signal)
  await task.powerAction(before)
  return result
}
