/** Where the steps of automated cleaning come from. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ConfigOverrides } from '../../config/for-tests.ts'
import { updateNode } from '../../db/nodes.ts'
import { createRunbook } from '../../db/runbooks.ts'
import { listNodeHistory } from '../../db/node-history.ts'
import { setTraits } from '../../db/traits.ts'
import { createTestNode, startTestConductor, testContext } from '../for-tests.ts'

interface Case {
  readonly options: ConfigOverrides['conductor']
  readonly traits?: string[]
  readonly driverInfo?: Record<string, unknown>
}

/** Provides a node where the runbook CUSTOM_WIPE (BIOS reset) exists. @returns its state and the steps that ran */
async function provide({ options, traits = [], driverInfo = {} }: Case) {
  await using conductor = await startTestConductor({ config: { conductor: { ...options } } })
  await createRunbook(conductor.db, {
    name: 'CUSTOM_WIPE',
    steps: [{ interface: 'bios', step: 'factory_reset', args: {}, order: 1 }],
    traits: ['CUSTOM_WIPE'],
    public: false,
    disable_ramdisk: false,
    extra: {},
  })
  const { id, uuid } = await createTestNode(conductor, { resource_class: 'rc', driver_info: driverInfo })
  await updateNode(conductor.db, id, { provision_state: 'manageable', power_state: 'power off' })
  if (traits.length > 0) await setTraits(conductor.db, id, traits)
  const refused = await conductor.rpc.do_provisioning_action(testContext, { node_id: uuid!, action: 'provide' }).then(
    () => null,
    (error: unknown) => (error as Error).name,
  )
  await conductor.settled()
  const history = await listNodeHistory(conductor.db, id)
  const start = history.find(({ event_type }) => event_type === 'automated_cleaning_start')?.event ?? ''
  const { provision_state: state } = await conductor.node(uuid!)
  const step = ['factory_reset', 'log_passthrough'].find((name) => start.includes(name))
  return { refused, state, step }
}

const wipe = { automated_cleaning_runbook: 'CUSTOM_WIPE' }

describe('automated cleaning', () => {
  test('runs what the driver offers', async () => {
    assert.deepEqual(await provide({ options: {} }), { refused: null, state: 'available', step: 'log_passthrough' })
  })

  for (const source of ['runbook', 'hybrid'] as const) {
    const options = { ...wipe, automated_cleaning_step_source: source }
    test(`${source}: runs the runbook that is configured`, async () => {
      const done = { refused: null, state: 'available', step: 'factory_reset' }
      assert.deepEqual(await provide({ options, traits: ['CUSTOM_WIPE'] }), done)
      const unchecked = { ...options, automated_cleaning_runbook_validate_traits: false }
      assert.deepEqual(await provide({ options: unchecked }), done)
    })

    test(`${source}: a node that does not fit the runbook is not cleaned by it`, async () => {
      assert.deepEqual(await provide({ options }), {
        refused: 'NodeCleaningFailure',
        state: 'manageable',
        step: undefined,
      })
    })
  }

  test('the resource class, and the node when it may, name another runbook', async () => {
    const done = { refused: null, state: 'available', step: 'factory_reset' }
    const traits = ['CUSTOM_WIPE']
    const source = { automated_cleaning_step_source: 'runbook' } as const
    const byClass = { ...source, automated_cleaning_runbook_by_resource_class: { rc: 'CUSTOM_WIPE' } }
    assert.deepEqual(await provide({ options: byClass, traits }), done)
    const byNode = { ...source, automated_cleaning_runbook_from_node: true }
    assert.deepEqual(await provide({ options: byNode, traits, driverInfo: { cleaning_runbook: 'CUSTOM_WIPE' } }), done)
  })

  test('without a runbook: refused when one is needed, the driver’s steps otherwise', async () => {
    assert.equal(
      (await provide({ options: { automated_cleaning_step_source: 'runbook' } })).refused,
      'NodeCleaningFailure',
    )
    assert.equal((await provide({ options: { automated_cleaning_step_source: 'hybrid' } })).step, 'log_passthrough')
  })
})
