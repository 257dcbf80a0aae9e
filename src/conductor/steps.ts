/** The list of steps that a flow runs: what drivers offer, what users and templates want, written to the node. */
import { listDeployTemplatesByNames } from '../db/deploy-templates.ts'
import { internalInfo, setInternal } from '../domain/internal-info.ts'
import type { InterfaceType } from '../domain/interfaces.ts'
import {
  allWithoutRamdisk,
  checkUserSteps,
  interfaceRanks,
  mergeDeploySteps,
  overridePriorities,
  sortSteps,
  withoutDisallowed,
  type UserStep,
} from '../domain/step-list.ts'
import type { Step, StepPhase } from '../domain/steps.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import type { ConductorTask } from './conductor-task.ts'

const isPresent = <T>(value: T | null): value is T => value !== null && value !== undefined

/** Steps that the node's interfaces offer. @param enabledOnly only those with a priority */
export async function driverSteps(
  task: ConductorTask,
  phase: StepPhase,
  { enabledOnly = false, sorted = false }: { enabledOnly?: boolean; sorted?: boolean } = {},
): Promise<Step[]> {
  const types = Object.keys(interfaceRanks[phase]) as InterfaceType[]
  let steps: Step[] = []
  for (const face of types.map((type) => task.driver[type]).filter(isPresent)) {
    steps.push(...(await face.getSteps(phase, task)))
  }
  const { clean_step_priority_override, verify_step_priority_override } = task.config.conductor
  const overrides =
    phase === 'clean' ? clean_step_priority_override : phase === 'verify' ? verify_step_priority_override : []
  steps = overridePriorities(steps, Array.isArray(overrides) ? overrides : [overrides])
  if (enabledOnly) steps = steps.filter(({ priority }) => priority !== 0)
  return sorted ? sortSteps(steps, phase) : steps
}

/** Steps that stand in `driver_internal_info` for that phase. */
export function storedSteps(task: ConductorTask, phase: 'clean' | 'deploy' | 'service'): Step[] {
  const steps = internalInfo(task.node)[`${phase}_steps`]
  return Array.isArray(steps) ? (steps as Step[]) : []
}

/** Stores the list and starts at its beginning. */
async function storeSteps(
  task: ConductorTask,
  phase: 'clean' | 'deploy' | 'service',
  steps: readonly Step[],
): Promise<void> {
  task.node[`${phase}_step`] = {}
  setInternal(task.node, `${phase}_steps`, steps)
  setInternal(task.node, `${phase}_step_index`, null)
  await task.save()
}

export interface ComposeOptions {
  readonly disableRamdisk?: boolean
}

/** Automated cleaning: what the driver offers with a priority. */
export async function setAutomatedCleanSteps(task: ConductorTask): Promise<void> {
  const steps = await driverSteps(task, 'clean', { enabledOnly: true, sorted: true })
  await storeSteps(task, 'clean', withoutDisallowed(steps, task.config.api.disallow_clean_steps))
}

/** The steps already stored, checked. @throws InvalidParameterValue */
export async function checkStoredSteps(
  task: ConductorTask,
  phase: 'clean' | 'service',
  { disableRamdisk = false }: ComposeOptions = {},
): Promise<void> {
  const offered = await driverSteps(task, phase)
  const steps = checkUserSteps(storedSteps(task, phase), offered, { phase, disableRamdisk })
  await storeSteps(task, phase, withoutDisallowed(steps, task.config.api[`disallow_${phase}_steps`]))
}

/** Do all stored clean steps run without the agent? */
export const storedStepsNeedNoRamdisk = async (task: ConductorTask): Promise<boolean> =>
  allWithoutRamdisk(storedSteps(task, 'clean'), await driverSteps(task, 'clean'))

/** Steps of the deploy templates whose names are among the instance's traits. */
async function templateSteps(task: ConductorTask, offered: readonly Step[], skipMissing: boolean): Promise<Step[]> {
  const traits: unknown = task.node.instance_info?.['traits']
  if (traits === undefined || traits === null) return []
  if (!Array.isArray(traits)) {
    throw new InvalidParameterValue(`traits in instance_info of node ${task.node.uuid} must be a list of texts.`)
  }
  if (traits.length === 0) return []
  const templates = await listDeployTemplatesByNames(task.db, traits as string[])
  const steps = templates.flatMap((template) => template.steps as unknown as UserStep[])
  return checkUserSteps(
    steps.map(({ interface: type, step, args, priority }): UserStep => ({
      interface: type,
      step,
      ...(args === undefined ? {} : { args }),
      ...(priority === undefined ? {} : { priority }),
    })),
    offered,
    {
      phase: 'deploy',
      skipMissing,
      where: `The deploy templates ${templates.map(({ name }) => name).join(', ')} do not fit the node: `,
    },
  )
}

/** @param given null: those that an earlier call has stored */
function userDeploySteps(
  task: ConductorTask,
  offered: readonly Step[],
  skipMissing: boolean,
  given: readonly UserStep[] | null = null,
): Step[] {
  const stored = internalInfo(task.node)['user_deploy_steps']
  const steps = given !== null && given.length > 0 ? given : Array.isArray(stored) ? (stored as UserStep[]) : []
  return checkUserSteps(steps, offered, {
    phase: 'deploy',
    skipMissing,
    where: 'The deploy steps do not fit the node: ',
  })
}

/** Checks templates and user steps against the node. @throws InvalidParameterValue */
export async function checkDeploySteps(
  task: ConductorTask,
  { given = null, skipMissing = false }: { given?: readonly UserStep[] | null; skipMissing?: boolean } = {},
): Promise<void> {
  const offered = await driverSteps(task, 'deploy')
  await templateSteps(task, offered, skipMissing)
  userDeploySteps(task, offered, skipMissing, given)
}

/** All steps of the deploy, in order. @throws InvalidParameterValue */
export async function composeDeploySteps(task: ConductorTask, { skipMissing = false } = {}): Promise<Step[]> {
  const offered = await driverSteps(task, 'deploy')
  const byUser = userDeploySteps(task, offered, skipMissing)
  const byTemplate = await templateSteps(task, offered, skipMissing)
  const steps = mergeDeploySteps(
    byUser,
    byTemplate,
    offered.filter(({ priority }) => priority !== 0),
  )
  return withoutDisallowed(steps, task.config.api.disallow_deploy_steps)
}

/** Stores them. @param restart false: the flow is under way, and goes on where it is */
export async function setDeploySteps(task: ConductorTask, { restart = true, skipMissing = false } = {}): Promise<void> {
  const steps = await composeDeploySteps(task, { skipMissing })
  if (restart) return storeSteps(task, 'deploy', steps)
  setInternal(task.node, 'deploy_steps', steps)
  await task.save()
}

/** Checks and merges the deploy steps anew, now that the agent's are known; once per deploy. */
export async function readyDeploySteps(task: ConductorTask): Promise<void> {
  if (internalInfo(task.node)['steps_validated'] === true) return
  await checkDeploySteps(task)
  await setDeploySteps(task, { restart: false })
  setInternal(task.node, 'steps_validated', true)
  await task.save()
}
