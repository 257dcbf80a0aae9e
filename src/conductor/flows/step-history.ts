import { maskMembers } from '../../lib/secrets/mask.ts'
import type { Step } from '../../domain/steps.ts'
import type { ConductorTask } from '../conductor-task.ts'
import type { StepFlow } from './step-flows.ts'

/** Arguments of steps may hold passwords: they are hidden by their names. */
const shown = (steps: readonly Step[]): string =>
  JSON.stringify(steps.map((step) => (step.args === undefined ? step : { ...step, args: maskMembers(step.args) })))

/**
 * Puts the start or the end of a flow into the node's history and, when configured, the log.
 * @param abortedAt the step at which it ended before its time
 */
export async function recordFlow(
  task: ConductorTask,
  flow: StepFlow,
  steps: readonly Step[],
  status: 'start' | 'end',
  abortedAt?: Step,
): Promise<void> {
  const { record_step_flows_in_history: toHistory, log_step_flows_to_syslog: toLog } = task.config.conductor
  if (!toHistory && !toLog) return
  const name = flow.historyName(task)
  const words = name.replaceAll('_', ' ')
  const how =
    status === 'start'
      ? `Start of ${words}`
      : abortedAt === undefined
        ? `End of ${words}`
        : `End of ${words} at step ${abortedAt.step}, before its time`
  const event = `${how}, steps: ${shown(steps)}`
  if (toLog) {
    if (abortedAt === undefined) task.log.info(`Node ${task.node.uuid}: ${event}`)
    else task.log.warning(`Node ${task.node.uuid}: ${event}`)
  }
  if (toHistory) await task.addHistory(event, `${name}_${status}`, abortedAt === undefined ? 'INFO' : 'ERROR')
}
