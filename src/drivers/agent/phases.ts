import type { AgentPhase } from '../../agent/client.ts'
import { InstanceDeployFailure } from '../../errors/agent.ts'
import type { IronicError } from '../../errors/define.ts'
import { NodeCleaningFailure, NodeServicingFailure } from '../../errors/node.ts'
import type { Node } from '../../objects/index.ts'

interface PhaseFacts {
  /** column that holds the running step */
  readonly stepField: 'clean_step' | 'deploy_step' | 'service_step'
  /** set while the node reboots within a step */
  readonly rebootFlag: string
  /** set while a poller, not the agent, tells when the step is done */
  readonly pollingFlag: string
  /** false: the step runs again after the reboot */
  readonly skipFlag: string
  readonly failure: (node: Node, reason: string, cause?: unknown) => IronicError
}

/** How the three flows that run steps on the agent differ in what they store. */
export const phases: Readonly<Record<AgentPhase, PhaseFacts>> = {
  clean: {
    stepField: 'clean_step',
    rebootFlag: 'cleaning_reboot',
    pollingFlag: 'cleaning_polling',
    skipFlag: 'skip_current_clean_step',
    failure: (node, reason, cause) => new NodeCleaningFailure({ node: node.uuid, reason }, { cause }),
  },
  deploy: {
    stepField: 'deploy_step',
    rebootFlag: 'deployment_reboot',
    pollingFlag: 'deployment_polling',
    skipFlag: 'skip_current_deploy_step',
    failure: (_node, reason, cause) => new InstanceDeployFailure({ reason }, { cause }),
  },
  service: {
    stepField: 'service_step',
    rebootFlag: 'servicing_reboot',
    pollingFlag: 'servicing_polling',
    skipFlag: 'skip_current_service_step',
    failure: (node, reason, cause) => new NodeServicingFailure({ node: node.uuid, reason }, { cause }),
  },
}

export const currentStep = (node: Node, phase: AgentPhase): Record<string, unknown> =>
  node[phases[phase].stepField] ?? {}

/** `interface.step`, as people read it. */
export const stepName = (step: Readonly<Record<string, unknown>>): string =>
  `${String(step['interface'])}.${String(step['step'])}`
