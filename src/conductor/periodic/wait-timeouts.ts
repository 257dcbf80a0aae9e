import type { Config } from '../../config/index.ts'
import type { NodeFilters } from '../../db/nodes.ts'
import { stepId } from '../../domain/step-list.ts'
import type { Step } from '../../domain/steps.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { failInspection, failRescue, failStepFlow } from '../flows/fail.ts'
import { cleanFlow, deployFlow, serviceFlow, type StepFlow } from '../flows/step-flows.ts'
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
  readonly fail: (task: ConductorTask) => Promise<void>
}

const checkInterval = (config: Config) => config.conductor.check_provision_state_interval

/** The step that was waited for, in words. */
function waitingFor(task: ConductorTask, flow: StepFlow): string {
  const step = task.node[flow.stepField] as Step | null
  return step?.step === undefined ? 'its ramdisk to report' : `step ${stepId(step)}`
}

const failStep = (flow: StepFlow) => (task: ConductorTask) =>
  failStepFlow(task, flow, {
    message: `Timeout reached in ${flow.waiting}: node ${task.node.uuid} waited too long for ${waitingFor(task, flow)}. See whether its ramdisk runs and reaches the API, then try again.`,
  })

/** Every state in which a node waits for its agent, and what ends the wait. */
const waitStates: readonly WaitState[] = [
  {
    state: 'wait call-back',
    timeout: ({ conductor }) => conductor.deploy_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    fail: failStep(deployFlow),
  },
  {
    state: 'clean wait',
    timeout: ({ conductor }) => conductor.clean_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    fail: failStep(cleanFlow),
  },
  {
    state: 'service wait',
    timeout: ({ conductor }) => conductor.service_callback_timeout,
    interval: checkInterval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    fail: failStep(serviceFlow),
  },
  {
    state: 'rescue wait',
    timeout: ({ conductor }) => conductor.rescue_callback_timeout,
    interval: ({ conductor }) => conductor.check_rescue_state_interval,
    since: 'provisioned_before',
    sortKey: 'provision_updated_at',
    fail: (task) =>
      failRescue(task, {
        message: `Timeout reached in rescue wait: the rescue ramdisk of node ${task.node.uuid} did not report. See whether it runs and reaches the API, then try again.`,
      }),
  },
  {
    state: 'inspect wait',
    timeout: ({ conductor }) => conductor.inspect_wait_timeout,
    interval: checkInterval,
    since: 'inspection_started_before',
    sortKey: 'inspection_started_at',
    fail: (task) =>
      failInspection(task, {
        message: `Timeout reached in inspect wait: the ramdisk of node ${task.node.uuid} did not report. See whether it runs and reaches the API, then try again.`,
      }),
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
            return background(() => wait.fail(task))
          },
          { useReserved: false },
        ),
      )
    },
  }))
}
