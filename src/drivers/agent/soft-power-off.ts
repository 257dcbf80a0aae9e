import type { AgentClient } from '../../agent/client.ts'
import { IronicError } from '../../errors/define.ts'
import type { Task } from '../task.ts'

/**
 * Lets the agent shut the machine down, and looks at the BMC until it is off; when it stays on, it is forced off.
 * An agent that goes away without an answer has most likely done what it was told.
 */
export async function softPowerOff(client: AgentClient, task: Task): Promise<void> {
  const { node, clock, log, signal } = task
  const { post_deploy_get_power_state_retries, post_deploy_get_power_state_retry_interval } = task.config.agent
  try {
    await client.powerOff(node, signal)
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    log.warning(`The agent on node ${node.uuid} did not confirm that it powers off`, { error })
  }
  const attempts = post_deploy_get_power_state_retries + 1
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1) await clock.sleep(post_deploy_get_power_state_retry_interval * 1000, signal)
    try {
      if ((await task.driver.power.getPowerState(task)) === 'power off') return
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      log.warning(`The power state of node ${node.uuid} could not be read`, { error })
    }
  }
  const waited = post_deploy_get_power_state_retry_interval * post_deploy_get_power_state_retries
  log.warning(`The agent on node ${node.uuid} did not power it off within ${waited} s; it is forced off`)
  await task.powerAction('power off')
}
