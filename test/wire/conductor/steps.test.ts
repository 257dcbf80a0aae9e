/**
 * Lists of steps as real Ironic puts them together. Where it loses steps (reserved ones and those for child nodes, of manual
 * cleaning, servicing and user deploy steps) ours keeps them; they are left out before the comparison. See docs/differences.md.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { createDeployTemplate, destroyDeployTemplate } from '../../../src/db/deploy-templates.ts'
import type { ConductorTask } from '../../../src/conductor/conductor-task.ts'
import {
  createTestNode,
  startTestConductor,
  testContext,
  type TestConductor,
} from '../../../src/conductor/for-tests.ts'
import {
  checkDeploySteps,
  checkStoredSteps,
  composeDeploySteps,
  driverSteps,
  setAutomatedCleanSteps,
} from '../../../src/conductor/steps.ts'
import { interfaceTypes } from '../../../src/domain/interfaces.ts'
import { internalInfo, setInternal } from '../../../src/domain/internal-info.ts'
import {
  allWithoutRamdisk,
  checkUserSteps,
  findStep,
  isReserved,
  isSameStep,
  refuseDisallowed,
  runsOnChildren,
  sortSteps,
  withoutDisallowed,
  type UserStep,
} from '../../../src/domain/step-list.ts'
import type { Step, StepPhase } from '../../../src/domain/steps.ts'
import type { Driver } from '../../../src/drivers/interfaces/driver.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- recorded JSON
type Recorded = any
interface Case {
  readonly in: Recorded
  readonly out?: Recorded
  readonly error?: string
}
const cases: Case[] = JSON.parse(await readFile(new URL('../../vectors/steps.json', import.meta.url), 'utf8'))

const bySteps = (steps: readonly Step[]): Driver =>
  Object.fromEntries(
    interfaceTypes.map((type) => [
      type,
      { getSteps: () => Promise.resolve(structuredClone(steps.filter((step) => step.interface === type))) },
    ]),
  ) as unknown as Driver

/** Runs the work on a node that has the case's driver. */
async function withTask<T>(
  { rpc, running, db }: TestConductor,
  input: Recorded,
  work: (task: ConductorTask) => Promise<T>,
  instanceInfo: Recorded = {},
): Promise<T> {
  const chosen = Object.entries((input.interfaces ?? {}) as Record<string, string | null>)
  const fields = Object.fromEntries(
    chosen.filter(([, name]) => name !== null).map(([type, name]) => [`${type}_interface`, name]),
  )
  const { uuid } = await createTestNode({ rpc } as TestConductor, { ...fields, instance_info: instanceInfo })
  for (const template of input.templates ?? []) await createDeployTemplate(db, template)
  try {
    return await running.parts.tasks.exclusive(testContext, uuid!, 'test', (task) => {
      if (input.driver_steps !== undefined) task.driver = bySteps(input.driver_steps)
      else {
        const missing = chosen.filter(([, name]) => name === null).map(([type]) => [type, null])
        task.driver = { ...task.driver, ...Object.fromEntries(missing) }
      }
      return work(task)
    })
  } finally {
    for (const { name } of input.templates ?? []) await destroyDeployTemplate(db, name)
  }
}

const ownSteps = (step: UserStep) => isReserved(step) || runsOnChildren(step)
/** What the original would have kept. */
const kept = <S extends UserStep>(steps: readonly S[]): S[] => steps.filter((step) => !ownSteps(step))
const clone = <T>(value: T): T => structuredClone(value)

type Run = (input: Recorded, conductor: TestConductor) => Promise<unknown>

const flowSteps =
  (phase: 'clean' | 'service'): Run =>
  (input, conductor) =>
    withTask(conductor, input, async (task) => {
      task.config.api[`disallow_${phase}_steps`] = input.disallow
      if (input.user_steps === null && phase === 'clean') await setAutomatedCleanSteps(task)
      else {
        setInternal(task.node, `${phase}_steps`, clone(input.user_steps ?? []))
        await checkStoredSteps(task, phase, { disableRamdisk: input.disable_ramdisk })
      }
      const info = internalInfo(task.node)
      return {
        [`${phase}_steps`]: kept(info[`${phase}_steps`] as Step[]),
        [`${phase}_step_index`]: info[`${phase}_step_index`],
      }
    })

const instanceOf = (input: Recorded) => (input.instance_traits === null ? {} : { traits: input.instance_traits })

const functions: Readonly<Record<string, Run>> = {
  sort: async ({ steps, phase }) => sortSteps(steps as Step[], phase as StepPhase),
  is_equivalent: async ({ args: [one, other] }) => isSameStep(one, other),
  find_step: async ({ args: [steps, step] }) => findStep(steps, step) ?? null,
  async disallowed({ steps, type, disallow, raise }) {
    if (raise) refuseDisallowed(steps, type, disallow)
    return raise || steps === null ? steps : withoutDisallowed(steps as Step[], disallow)
  },
  driver_steps: (input, conductor) =>
    withTask(conductor, input, (task) => {
      const overrides = ((input.overrides ?? []) as string[]).map((line) =>
        Object.fromEntries(line.split(',').map((pair) => pair.split(':'))),
      )
      Object.assign(task.config.conductor, {
        clean_step_priority_override: overrides,
        verify_step_priority_override: overrides,
      })
      return driverSteps(task, input.phase, { enabledOnly: input.enabled, sorted: input.sort ?? true })
    }),
  validate: (input, conductor) =>
    withTask(conductor, input, async (task) =>
      kept(
        checkUserSteps(clone(input.user_steps), await driverSteps(task, input.type), {
          phase: input.type,
          skipMissing: input.skip_missing ?? false,
          disableRamdisk: input.disable_ramdisk ?? false,
        }),
      ),
    ),
  all_steps_disable_ramdisk: async ({ user_steps, driver_steps }) => allWithoutRamdisk(user_steps, driver_steps),
  deploy_merge: (input, conductor) =>
    withTask(
      conductor,
      input,
      async (task) => {
        task.config.api.disallow_deploy_steps = input.disallow
        if (input.user_steps !== null) setInternal(task.node, 'user_deploy_steps', clone(input.user_steps))
        return kept(await composeDeploySteps(task, { skipMissing: input.skip_missing }))
      },
      instanceOf(input),
    ),
  deploy_validate: (input, conductor) =>
    withTask(
      conductor,
      input,
      async (task) => {
        await checkDeploySteps(task, { given: input.user_steps, skipMissing: input.skip_missing })
        return null
      },
      instanceOf(input),
    ),
  clean_steps: flowSteps('clean'),
  service_steps: flowSteps('service'),
}

describe('lists of steps', async () => {
  for (const [name, run] of Object.entries(functions)) {
    const chosen = cases.filter((each) => each.in.fn === name)
    test(`${name}: ${chosen.length} cases`, async () => {
      await using conductor = await startTestConductor({ config: { DEFAULT: interfacesOfCases } })
      for (const each of chosen) {
        const told = JSON.stringify(each.in)
        if (each.error !== undefined) {
          await assert.rejects(run(each.in, conductor), () => true, told)
          continue
        }
        assert.deepEqual(await run(each.in, conductor), each.out, told)
      }
    })
  }
})

const interfacesOfCases = {
  enabled_management_interfaces: ['fake', 'noop'],
  enabled_deploy_interfaces: ['fake', 'noop', 'direct', 'ramdisk', 'custom-agent', 'bootc', 'autodetect'],
  enabled_raid_interfaces: ['fake', 'no-raid', 'agent'],
}
