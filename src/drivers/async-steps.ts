import type { AgentPhase } from '../agent/client.ts'
import { dropInternal, setInternal } from '../domain/internal-info.ts'
import type { Node } from '../objects/index.ts'
import { ramdiskDisabled } from './agent/ramdisk-boot.ts'
import { phases } from './agent/phases.ts'

/** The flow that a node runs a step of. A deploy is told by its step alone; service and clean by theirs. */
export function phaseOf(node: Node): AgentPhase {
  if (Object.keys(node.clean_step ?? {}).length > 0) return 'clean'
  if (Object.keys(node.service_step ?? {}).length > 0) return 'service'
  return 'deploy'
}

/** How a flow goes on when its step has said `wait`. */
export interface AsyncStep {
  /** the machine is rebooted meanwhile */
  readonly reboot: boolean
  /** false: the step is run again */
  readonly skipCurrentStep: boolean
  /** a poller of the driver goes on, not the heartbeat of the agent */
  readonly polling: boolean
}

/** Notes how the flow goes on. Saving is the caller's. */
export function setAsyncStep(node: Node, { reboot, skipCurrentStep, polling }: AsyncStep): void {
  const { rebootFlag, skipFlag, pollingFlag } = phases[phaseOf(node)]
  dropInternal(node, [rebootFlag, skipFlag, pollingFlag])
  if (reboot) setInternal(node, rebootFlag, true)
  setInternal(node, skipFlag, skipCurrentStep)
  if (polling) setInternal(node, pollingFlag, true)
}

/** Does a poller drive the step that the node is at? */
export const isPolled = (node: Node): boolean => node.driver_internal_info?.[phases[phaseOf(node)].pollingFlag] === true

/** Does the node run its flow without an agent? */
export const runsWithoutAgent = (node: Node): boolean => ramdiskDisabled(node)

/** States in which a flow waits for a step. */
export const waitStates: readonly string[] = ['clean wait', 'wait call-back', 'service wait']
/** States in which a flow has ended badly, and what it left behind is cleared. */
export const failStates: readonly string[] = ['clean failed', 'deploy failed', 'service failed']
