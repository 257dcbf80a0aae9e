/** How the flows that run steps differ, told as data; `run.ts` runs them all. */
import { faults } from '../../domain/states.ts'
import type { ProvisionState } from '../../domain/machine.ts'
import type { ConductorTask } from '../conductor-task.ts'

export interface StepFlow {
  readonly phase: 'clean' | 'deploy' | 'service'
  /** as people say it */
  readonly called: string
  readonly running: ProvisionState
  readonly waiting: ProvisionState
  readonly held: ProvisionState
  readonly failed: ProvisionState
  readonly stepField: 'clean_step' | 'deploy_step' | 'service_step'
  /** set by a step that reboots the node: the agent is away for a while */
  readonly rebootFlag: string
  /** false: the step runs again when the flow goes on */
  readonly skipFlag: string
  /** a poller, not the agent, goes on with the flow */
  readonly pollingFlag: string
  /** key that says that the flow runs without the agent */
  readonly withoutRamdisk: string | null
  /** `event_type` of its failures in the node's history */
  readonly historyType: string
  /** `event_type` of its start and end: `<name>_start`, `<name>_end` */
  readonly historyName: (task: ConductorTask) => string
  /** fault and maintenance after a step failed */
  readonly fault: string | null
  /** target that every event of the flow keeps: a manual clean ends where it began */
  readonly target: (task: ConductorTask) => string | null
  /** puts networks and boot back; the ramdisk goes */
  readonly tearDown: (task: ConductorTask) => Promise<void>
  /** a failure powers the node off when this option is set */
  readonly powerOffOption: 'poweroff_in_cleanfail' | 'poweroff_in_servicefail' | null
  /** label of collected logs */
  readonly logLabel: string
}

export const isManualClean = (task: ConductorTask): boolean => task.node.target_provision_state === 'manageable'

export const cleanFlow: StepFlow = {
  phase: 'clean',
  called: 'cleaning',
  running: 'cleaning',
  waiting: 'clean wait',
  held: 'clean hold',
  failed: 'clean failed',
  stepField: 'clean_step',
  rebootFlag: 'cleaning_reboot',
  skipFlag: 'skip_current_clean_step',
  pollingFlag: 'cleaning_polling',
  withoutRamdisk: 'cleaning_disable_ramdisk',
  historyType: 'cleaning',
  historyName: (task) => (isManualClean(task) ? 'manual_cleaning' : 'automated_cleaning'),
  fault: faults.CLEAN_FAILURE,
  target: (task) => (isManualClean(task) ? 'manageable' : null),
  tearDown: (task) => task.driver.deploy.tearDownCleaning(task),
  powerOffOption: 'poweroff_in_cleanfail',
  logLabel: 'cleaning',
}

export const deployFlow: StepFlow = {
  phase: 'deploy',
  called: 'deployment',
  running: 'deploying',
  waiting: 'wait call-back',
  held: 'deploy hold',
  failed: 'deploy failed',
  stepField: 'deploy_step',
  rebootFlag: 'deployment_reboot',
  skipFlag: 'skip_current_deploy_step',
  pollingFlag: 'deployment_polling',
  withoutRamdisk: null,
  historyType: 'deploying',
  historyName: () => 'deployment',
  fault: null,
  target: () => null,
  tearDown: (task) => task.driver.deploy.cleanUp(task),
  powerOffOption: null,
  logLabel: 'deploy',
}

export const serviceFlow: StepFlow = {
  phase: 'service',
  called: 'servicing',
  running: 'servicing',
  waiting: 'service wait',
  held: 'service hold',
  failed: 'service failed',
  stepField: 'service_step',
  rebootFlag: 'servicing_reboot',
  skipFlag: 'skip_current_service_step',
  pollingFlag: 'servicing_polling',
  withoutRamdisk: 'service_disable_ramdisk',
  historyType: 'servicing',
  historyName: () => 'servicing',
  fault: faults.SERVICE_FAILURE,
  target: () => null,
  tearDown: (task) => task.driver.deploy.tearDownService(task),
  powerOffOption: 'poweroff_in_servicefail',
  logLabel: 'service',
}

export const stepFlows: readonly StepFlow[] = [cleanFlow, deployFlow, serviceFlow]

/** The step flow that a provision state belongs to. */
export const flowOfState = (state: string | null): StepFlow | undefined =>
  stepFlows.find((flow) => [flow.running, flow.waiting, flow.held, flow.failed].includes(state as ProvisionState))
