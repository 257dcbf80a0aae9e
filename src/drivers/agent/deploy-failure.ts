import type { AgentClient } from '../../agent/client.ts'
import { InstanceDeployFailure } from '../../errors/agent.ts'
import { IronicError } from '../../errors/define.ts'
import type { Task } from '../task.ts'
import { removeInstanceImage } from './instance-image.ts'
import { currentStep, stepName } from './phases.ts'
import { collectRamdiskLogs } from './ramdisk-logs.ts'

/** Ends a deploy with `deploy failed`: logs first, then the state, then power off if `[deploy]power_off_after_deploy_failure`. */
export async function failDeploy(
  client: AgentClient,
  task: Task,
  message: string,
  { collectLogs = true, cause }: { collectLogs?: boolean; cause?: unknown } = {},
): Promise<void> {
  const { node, config, log } = task
  if (collectLogs) await collectRamdiskLogs(client, task)
  await task.failFlow({ message, cause, tearDown: false })
  if (config.deploy.power_off_after_deploy_failure) {
    try {
      await task.powerAction('power off')
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      log.error(
        `Node ${node.uuid} could not be powered off after its deploy failed; look after it before it is used again`,
        { error },
      )
    }
  }
  if (config.conductor.clear_image_cache_on_deploy_failure) await removeInstanceImage(config, node)
  // a power action clears the last error
  task.node.last_error = message
  await task.save()
}

/** Ends a deploy from inside a step: the node fails, and the step with it. */
export async function deployStepFailed(
  client: AgentClient,
  task: Task,
  reason: string,
  options: { collectLogs?: boolean; cause?: unknown } = {},
): Promise<never> {
  const step = currentStep(task.node, 'deploy')
  const name = step['step'] === undefined ? null : stepName(step)
  const message = name === null || reason.includes(name) ? reason : `Deploy step ${name} failed: ${reason}`
  await failDeploy(client, task, message, options)
  throw new InstanceDeployFailure(message, { cause: options.cause })
}
