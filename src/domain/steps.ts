import type { InterfaceType } from './interfaces.ts'

/** Which flow a step belongs to. */
export type StepPhase = 'clean' | 'deploy' | 'service' | 'verify'

export interface StepArgument {
  readonly description?: string
  readonly required?: boolean
}

/** A step as it is stored in `driver_internal_info` and sent to the agent. */
export interface Step {
  interface: InterfaceType
  step: string
  priority: number
  abortable?: boolean
  argsinfo?: Record<string, StepArgument> | null
  args?: Record<string, unknown>
  requires_ramdisk?: boolean
  execute_on_child_nodes?: boolean
  limit_child_node_execution?: string[]
  [key: string]: unknown
}

/** What a step's method gives back: it is done, or it goes on by itself and a heartbeat or a poller will resume the flow. */
export type StepResult = 'wait' | 'done'
