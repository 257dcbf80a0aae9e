import type { Config } from '../../config/index.ts'
import type { NodeFilters } from '../../db/nodes.ts'
import { stepId } from '../../domain/step-list.ts'
import type { Step } from '../../domain/steps.ts'
import type { FlowFailure } from '../../drivers/task.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { failInspection, failRescue, failStepFlow } from '../flows/fail.ts'
import { cleanFlow, deployFlow, flowOfState, serviceFlow, type StepFlow } from '../flows/step-flows.ts'
import { background } from '../tasks.ts'
import { forEachNode, ownNodes, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

interface WaitState {
  readonly state: string
  /** seconds; 0: waits for ever */
  readonly timeout: (config: Config) => number
  readonly interval: (config: Config) => number
  readonly since: 'provisioned_before' | 'inspection_started_before'
  readonly sortKey: 'provision_updated_at' | 'inspection_started_at'
  readonly message: (task: ConductorTask) => string
  /** cleans up after the failure; the node is in its fail state */
  readonly cleanUp: (task: ConductorTask, failure: FlowFailure) => Promise<void>
}

const checkInterval = (config: Config) => config.conductor.check_provision_state_interval

/** The step that was waited for, in words. */
function waitingFor(task: ConductorTask, flow: StepFlow): string {
  const step = task.node[flow.stepField] as Step | null
  return step?.step === undefined ? 'its ramdisk' : `step ${stepId(step)}`
}

const advice = 'See whether its ramdisk runs and reaches the API, then try again.'

const ofSteps = (flow: StepFlow): Pick<WaitState, 'message' | 'cleanUp'> => ({
  message: (task) =>
    `Timeout reached in ${flow.waiting}: node ${task.node.uuid} waited too long for ${waitingFor(task, flow)}. ${advice}`,
  cleanUp: (task, failure) => failStepFlow(task, flow, failure),
})

/** Every state in which a node waits for its agent, and what ends the wait. */
const waitStates: readonly WaitState[] = [
  {
    state: 'wait call-back',
    timeout: ({ conductor }) => conductor.deploy_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    ...ofSteps(deployFlow),
  },
  {
    state: 'clean wait',
    timeout: ({ conductor }) => conductor.clean_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    ...ofSteps(cleanFlow),
  },
  {
    state: 'service wait',
    timeout: ({ conductor }) => conductor.service_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    ...ofSteps(serviceFlow),
  },
  {
    state: 'rescue wait',
    timeout: ({ conductor }) => conductor.rescue_callback_timeout,
    interval: ({ conductor }) => conductor.check_rescue_state_interval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    message: ({ node }) =>
      `Timeout reached in rescue wait: the rescue ramdisk of node ${node.uuid} did not report. ${advice}`,
    cleanUp: failRescue,
  },
  {
    state: 'inspect wait',
    timeout: ({ conductor }) => conductor.inspect_wait_timeout,
    interval: checkInterval,
    since: 'inspection_started_before',
    sortKey: 'inspection_started_at',
    message: ({ node }) =>
      `Timeout reached in inspect wait: the ramdisk of node ${node.uuid} did not report. ${advice}`,
    cleanUp: failInspection,
  },
]

/** Ends waits that took too long, one task for each wait state. A locked node is being looked after; one in maintenance rests. */
export function waitTimeouts(config: Config): PeriodicTask[] {
  return waitStates.map((wait) => ({
    name: `time-out of ${wait.state}`,
    interval: wait.timeout(config) > 0 ? wait.interval(config) : 0,
    async run(parts) {
      const filters: NodeFilters = {
        reserved: false,
        maintenance: false,
        provision_state: wait.state,
        [wait.since]: wait.timeout(config),
      }
      const late = await ownNodes(parts, { filters, sortKey: wait.sortKey })
      await forEachNode(parts, late, config.conductor.periodic_max_workers, ({ id }) =>
        parts.tasks.background<void>(
          periodicContext(`time-out of ${wait.state}`),
          id,
          `time-out of ${wait.state}`,
          async (task) => {
            // it may have gone on before it was locked
            const { provision_state: state, maintenance } = task.node
            if (state !== wait.state || maintenance) return
            return background(() => giveUp(task, wait))
          },
          { useReserved: false },
        ),
      )
    },
  }))
}

/** The reason stands in the row together with the fail state; what the wait had built up is taken down after that. */
async function giveUp(task: ConductorTask, wait: WaitState): Promise<void> {
  const message = wait.message(task)
  // a manual clean that failed still leads back to manageable
  const targetState = flowOfState(wait.state)?.target(task) ?? null
  await task.fire('fail', { targetState, lastError: message })
  await wait.cleanUp(task, { message, setFailState: false })
}
