import type { InterfaceType } from '../../domain/interfaces.ts'
import type { Step, StepArgument, StepPhase, StepResult } from '../../domain/steps.ts'
import type { NodeFilters } from '../../db/nodes.ts'
import type { Node } from '../../objects/index.ts'
import type { DriverParts, Task } from '../task.ts'

/** A row of an interface's step table. */
export interface StepSpec {
  readonly phase: StepPhase
  readonly step: string
  /** 0: runs only when asked for by name. A function when an option decides. */
  readonly priority: number | ((parts: DriverParts) => number)
  readonly abortable?: boolean
  readonly requiresRamdisk?: boolean
  readonly args?: Readonly<Record<string, StepArgument>> | null
  /** Does the step. Bound to the interface. */
  readonly run: (task: Task, args: Record<string, unknown>) => Promise<StepResult | void>
}

/** Work that an interface does every so often on nodes that use it. */
export interface NodePeriodic {
  readonly name: string
  /** seconds; 0: off */
  readonly interval: number
  readonly filters: NodeFilters
  /** looks at the listed node before it is locked */
  readonly concerns?: (node: Node) => boolean
  /** false: the node is locked exclusively. Default true. */
  readonly shared?: boolean
  readonly run: (task: Task) => Promise<void>
}

/** Periodic work of an interface for its conductor as a whole. */
export interface Housekeeping {
  /** several interfaces may name the same work; it is done once */
  readonly name: string
  /** seconds; 0: never */
  readonly interval: number
  readonly run: () => Promise<void>
}

/** What all interfaces share: properties, validation, and steps. */
export abstract class DriverInterface {
  abstract readonly type: InterfaceType
  abstract readonly name: string
  /** false: kept for compatibility; a warning at start says so */
  readonly supported: boolean = true
  protected readonly parts: DriverParts
  constructor(parts: DriverParts) {
    this.parts = parts
  }

  /** `driver_info` keys that the interface reads, with what they mean. */
  properties(): Readonly<Record<string, string>> {
    return {}
  }

  /** Checks what can be checked without touching hardware. @throws InvalidParameterValue, MissingParameterValue */
  abstract validate(task: Task): Promise<void>

  /** The steps this interface itself implements. */
  steps(): readonly StepSpec[] {
    return []
  }

  /** Its periodic work; the conductor runs it for the nodes that use this interface. */
  periodics(): readonly NodePeriodic[] {
    return []
  }

  /** Periodic work that is not about nodes, once per conductor and name: caches to tidy. */
  housekeeping(): readonly Housekeeping[] {
    return []
  }

  /** Steps on offer for a node in that phase; an interface that runs steps elsewhere (the agent) adds those. */
  getSteps(phase: StepPhase, _task: Task): Promise<Step[]> {
    return Promise.resolve(
      this.steps()
        .filter((spec) => spec.phase === phase)
        .map((spec) => this.describe(spec)),
    )
  }

  /** Runs a step that `getSteps` listed. */
  async executeStep(phase: StepPhase, task: Task, step: Step): Promise<StepResult> {
    const spec = this.steps().find((candidate) => candidate.phase === phase && candidate.step === step.step)
    if (spec === undefined) throw new Error(`Interface ${this.name} has no ${phase} step ${step.step}`)
    return (await spec.run(task, step.args ?? {})) ?? 'done'
  }

  protected describe(spec: StepSpec): Step {
    const priority = typeof spec.priority === 'function' ? spec.priority(this.parts) : spec.priority
    const step: Step = { interface: this.type, step: spec.step, priority }
    if (spec.phase === 'verify') return step
    step.abortable = spec.abortable ?? spec.phase === 'deploy'
    step.argsinfo = spec.args ?? null
    if (spec.phase !== 'deploy') step.requires_ramdisk = spec.requiresRamdisk ?? true
    return step
  }
}
