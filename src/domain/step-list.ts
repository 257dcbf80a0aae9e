/** How lists of steps are put in order, checked and merged. Pure: the driver's steps are given. */
import { InvalidParameterValue } from '../errors/base.ts'
import { StepNotAllowed } from '../errors/runbook.ts'
import type { InterfaceType } from './interfaces.ts'
import {
  cleaningInterfacePriority,
  deployingInterfacePriority,
  servicingInterfacePriority,
  verifyingInterfacePriority,
} from './step-priorities.ts'
import type { Step, StepPhase } from './steps.ts'

/** Rank of interfaces by phase; its keys are the interfaces that have steps there, in the order they are asked. */
export const interfaceRanks: Readonly<Record<StepPhase, Readonly<Partial<Record<InterfaceType, number>>>>> = {
  clean: cleaningInterfacePriority,
  deploy: deployingInterfacePriority,
  service: servicingInterfacePriority,
  verify: verifyingInterfacePriority,
}

/** A step as a user gives it: without what the driver knows of it. */
export interface UserStep {
  interface: InterfaceType
  step: string
  priority?: number
  abortable?: boolean
  args?: Record<string, unknown>
  execute_on_child_nodes?: boolean
  limit_child_node_execution?: string[]
  [key: string]: unknown
}

/** Steps that the conductor does itself, whatever interface they name. */
export const reservedSteps = ['power_on', 'power_off', 'reboot', 'hold', 'wait'] as const
export type ReservedStep = (typeof reservedSteps)[number]
export const isReserved = (step: Pick<Step, 'step'>): boolean =>
  (reservedSteps as readonly string[]).includes(step.step)
export const runsOnChildren = (step: UserStep): boolean => Boolean(step.execute_on_child_nodes)

export const stepId = (step: Pick<Step, 'interface' | 'step'>): string => `${step.interface}.${step.step}`

export const isSameStep = (one: Partial<Step>, other: Partial<Step>): boolean =>
  one.interface === other.interface && one.step === other.step

export const findStep = (steps: readonly Step[], step: Partial<Step>): Step | undefined =>
  steps.find((candidate) => isSameStep(candidate, step))

/** Highest priority first; of equal ones the interface with the higher rank; of equal those the one that came first. */
export function sortSteps<S extends UserStep>(steps: readonly S[], phase: StepPhase): S[] {
  const rank = ({ interface: type }: S): number => {
    const found = interfaceRanks[phase][type]
    if (found === undefined) throw new InvalidParameterValue(`A ${phase} step cannot be of the interface ${type}.`)
    return found
  }
  steps.forEach(rank)
  return steps.toSorted((a, b) => byPriority(b, a) || rank(b) - rank(a))
}

/** Numbers by value; priorities that came as text, by text, as Python has them. */
function byPriority({ priority: a }: UserStep, { priority: b }: UserStep): number {
  if (typeof a !== typeof b) throw new InvalidParameterValue(`The priorities ${a} and ${b} cannot be compared.`)
  return a === b ? 0 : a! < b! ? -1 : 1
}

/** Priorities from lines of `interface.step: priority`; a later line wins, an empty one changes nothing. */
export function overridePriorities(steps: readonly Step[], lines: readonly Readonly<Record<string, string>>[]): Step[] {
  const wanted: Record<string, string> = Object.assign({}, ...lines)
  return steps.map((step) => {
    const priority = wanted[stepId(step)]
    if (priority === undefined || priority === '') return step
    if (!/^\s*[+-]?\d+\s*$/.test(priority)) {
      throw new InvalidParameterValue(
        `The priority of step ${stepId(step)} must be an integer, not ${priority}; see the step_priority_override options.`,
      )
    }
    return { ...step, priority: Number(priority) }
  })
}

/**
 * Refuses steps that `[api]disallow_<phase>_steps` names.
 * @throws StepNotAllowed
 */
export function refuseDisallowed(
  steps: readonly UserStep[] | null,
  phase: StepPhase,
  disallowed: readonly string[],
): void {
  const refused = steps?.map(stepId).find((id) => disallowed.includes(id))
  if (refused !== undefined) throw new StepNotAllowed({ step: refused, step_type: phase })
}

/** The same, leaving them out instead. */
export const withoutDisallowed = <S extends UserStep>(steps: readonly S[], disallowed: readonly string[]): S[] =>
  steps.filter((step) => !disallowed.includes(stepId(step)))

export interface CheckOptions {
  readonly phase: Exclude<StepPhase, 'verify'>
  /** steps that the driver does not know yet are let through: the agent may bring them */
  readonly skipMissing?: boolean
  /** no step may need the agent */
  readonly disableRamdisk?: boolean
  /** put before the sentence of the error */
  readonly where?: string
}

/**
 * Checks steps of a user against those of the driver and completes them with what the driver says (abortable, priority).
 * Reserved steps and steps for child nodes are not the driver's: they stay as they are. Steps that are missing (`skipMissing`)
 * are left out.
 * @throws InvalidParameterValue telling all that is wrong
 */
export function checkUserSteps(
  userSteps: readonly UserStep[],
  driverSteps: readonly Step[],
  { phase, skipMissing = false, disableRamdisk = false, where = '' }: CheckOptions,
): Step[] {
  const known = new Map(driverSteps.map((step) => [stepId(step), step]))
  const problems: string[] = []
  const accepted: Step[] = []
  for (const step of userSteps) {
    if (runsOnChildren(step) || isReserved(step)) {
      accepted.push(completeOwnStep(step, phase))
      continue
    }
    const driverStep = known.get(stepId(step))
    if (driverStep === undefined) {
      if (!skipMissing) problems.push(`the node has no ${phase} step ${stepId(step)}`)
      continue
    }
    problems.push(...problemsOf(step, driverStep, phase, disableRamdisk))
    accepted.push(
      phase === 'deploy'
        ? { ...step, priority: step.priority ?? 0 }
        : { ...step, abortable: driverStep.abortable ?? false, priority: driverStep.priority ?? 0 },
    )
  }
  if (phase === 'deploy') problems.push(...duplicatesOf(accepted))
  if (problems.length > 0) throw new InvalidParameterValue(`${where}${problems.join('; ')}.`)
  return accepted
}

/** Where the flow only waits, an abort is always safe. */
function completeOwnStep(step: UserStep, phase: StepPhase): Step {
  if (phase === 'deploy') return { ...step, priority: step.priority ?? 0 }
  const waits = !runsOnChildren(step) && (step.step === 'hold' || step.step === 'wait')
  return { ...step, abortable: step.abortable ?? waits, priority: step.priority ?? 0 }
}

function problemsOf(step: UserStep, driverStep: Step, phase: StepPhase, disableRamdisk: boolean): string[] {
  const problems: string[] = []
  const id = stepId(step)
  const known = driverStep.argsinfo ?? {}
  const given = step.args ?? {}
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  if (unexpected.length > 0) problems.push(`${phase} step ${id} takes no arguments ${unexpected.join(', ')}`)
  if (phase === 'deploy' && typeof step.priority !== 'number') {
    return [...problems, `the priority of deploy step ${id} must be a number`]
  }
  const enabled = phase !== 'deploy' || (step.priority ?? 0) > 0
  if (!enabled) return problems
  const missing = Object.entries(known).filter(
    ([name, { required }]) => required === true && !Object.hasOwn(given, name),
  )
  if (missing.length > 0) {
    const named = missing.map(([name, { description }]) => (description ? `${name} (${description})` : name))
    problems.push(`${phase} step ${id} lacks the arguments ${named.join(', ')}`)
  }
  if (disableRamdisk && driverStep.requires_ramdisk !== false) {
    problems.push(`${phase} step ${id} needs the ramdisk, which is not to be booted`)
  }
  if (phase === 'deploy' && id === 'deploy.deploy') {
    problems.push(`deploy step ${id} is the core step: it may be switched off with priority 0, but not moved`)
  }
  return problems
}

function duplicatesOf(steps: readonly Step[]): string[] {
  const ids = steps.filter((step) => !isReserved(step) && !runsOnChildren(step)).map(stepId)
  const twice = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
  return twice.length === 0 ? [] : [`these deploy steps stand there more than once: ${twice.join(', ')}`]
}

/**
 * The steps of a deploy: those of the user, then those of the templates that the user did not name, then the driver's; what
 * has priority 0 after that is off.
 */
export function mergeDeploySteps(
  userSteps: readonly Step[],
  templateSteps: readonly Step[],
  driverSteps: readonly Step[],
): Step[] {
  const named = (steps: readonly Step[]) => new Set(steps.map(stepId))
  const byUser = named(userSteps)
  const wanted = [...userSteps, ...templateSteps.filter((step) => !byUser.has(stepId(step)))]
  const byWanted = named(wanted)
  return sortSteps(
    [...driverSteps.filter((step) => !byWanted.has(stepId(step))), ...wanted.filter(({ priority }) => priority > 0)],
    'deploy',
  )
}

/** Can all of them run without the agent? */
export function allWithoutRamdisk(userSteps: readonly UserStep[], driverSteps: readonly Step[]): boolean {
  const known = new Map(driverSteps.map((step) => [stepId(step), step]))
  return userSteps.every(
    (step) => runsOnChildren(step) || isReserved(step) || known.get(stepId(step))?.requires_ramdisk === false,
  )
}
