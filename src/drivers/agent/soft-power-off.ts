import type { AgentClient } from '../../agent/client.ts'
import { pauses } from '../../domain/polling.ts'
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
  const interval = post_deploy_get_power_state_retry_interval * 1000
  // without retries there is one look, at once
  const waits = post_deploy_get_power_state_retries > 0 ? pauses(interval, post_deploy_get_power_state_retries) : [0]
  for (const pause of waits) {
    await clock.sleep(pause, signal)
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
