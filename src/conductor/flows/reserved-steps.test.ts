/** Steps of the conductor itself and steps for child nodes, in each flow: real Ironic loses them, see docs/differences.md. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateNode } from '../../db/nodes.ts'
import { reservedSteps } from '../../domain/step-list.ts'
import type { Node } from '../../objects/index.ts'
import { createTestNode, startTestConductor, testContext, type TestConductor } from '../for-tests.ts'
import { stepFlows, type StepFlow } from './step-flows.ts'

type Steps = { interface: string; step: string; priority?: number; [key: string]: unknown }[]

/** Begins each flow with the given steps. */
const begin: Readonly<
  Record<StepFlow['phase'], (conductor: TestConductor, node_id: string, steps: Steps) => Promise<void>>
> = {
  clean: ({ rpc }, node_id, clean_steps) => rpc.do_node_clean(testContext, { node_id, clean_steps }),
  deploy: ({ rpc }, node_id, steps) =>
    rpc.do_node_deploy(testContext, {
      node_id,
      deploy_steps: steps.map((step, index) => ({ ...step, args: step['args'] ?? {}, priority: 90 - index })),
    }),
  service: ({ rpc }, node_id, service_steps) => rpc.do_node_service(testContext, { node_id, service_steps }),
}
const from: Readonly<Record<StepFlow['phase'], string>> = {
  clean: 'manageable',
  deploy: 'available',
  service: 'active',
}
const to: Readonly<Record<StepFlow['phase'], string>> = { clean: 'manageable', deploy: 'active', service: 'active' }

async function nodeIn(conductor: TestConductor, state: string, values: Partial<Node> = {}): Promise<Node> {
  const { id, uuid } = await createTestNode(conductor, values)
  await updateNode(conductor.db, id, { provision_state: state, power_state: 'power off' })
  return conductor.node(uuid!)
}

const powerSets = ({ notifications }: TestConductor) =>
  notifications
    .filter(({ event, status }) => event === 'node.power_set' && status === 'end')
    .map(({ extra }) => extra!['to_power'])

for (const flow of stepFlows) {
  const { phase } = flow
  describe(phase, () => {
    test('power steps change the power, in order', async () => {
      await using conductor = await startTestConductor()
      const { uuid } = await nodeIn(conductor, from[phase])
      const steps = ['power_on', 'reboot', 'power_off'].map((step) => ({ interface: 'power', step }))
      await begin[phase](conductor, uuid!, steps)
      await conductor.settled()
      assert.equal((await conductor.node(uuid!)).provision_state, to[phase])
      assert.deepEqual(powerSets(conductor), ['power on', 'rebooting', 'power off'])
    })

    test('a hold is held until it is ended, and can be aborted', async () => {
      await using conductor = await startTestConductor()
      const hold = [
        { interface: 'deploy', step: 'hold' },
        { interface: 'power', step: 'power_on' },
      ]
      const held = await nodeIn(conductor, from[phase])
      await begin[phase](conductor, held.uuid!, hold)
      await conductor.settled()
      assert.equal((await conductor.node(held.uuid!)).provision_state, flow.held)
      assert.deepEqual(powerSets(conductor), [])
      await conductor.rpc.do_provisioning_action(testContext, { node_id: held.uuid!, action: 'unhold' })
      await conductor.settled()
      assert.equal((await conductor.node(held.uuid!)).provision_state, to[phase])
      assert.deepEqual(powerSets(conductor), ['power on'])
      const aborted = await nodeIn(conductor, from[phase])
      await begin[phase](conductor, aborted.uuid!, hold)
      await conductor.settled()
      await conductor.rpc.do_provisioning_action(testContext, { node_id: aborted.uuid!, action: 'abort' })
      await conductor.settled()
      const after = await conductor.node(aborted.uuid!)
      assert.equal(after.provision_state, phase === 'service' ? 'active' : flow.failed)
      assert.match(after.last_error!, /aborted/)
    })

    test('a wait with seconds goes on by itself, no longer than allowed', async () => {
      await using conductor = await startTestConductor({
        config: { conductor: { max_conductor_wait_step_seconds: 0 } },
      })
      const { uuid } = await nodeIn(conductor, from[phase])
      await begin[phase](conductor, uuid!, [
        { interface: 'deploy', step: 'wait', args: { seconds: 900 } },
        { interface: 'power', step: 'power_on' },
      ])
      await conductor.settled()
      assert.equal((await conductor.node(uuid!)).provision_state, to[phase])
      assert.deepEqual(powerSets(conductor), ['power on'])
    })

    test('a wait without seconds waits', async () => {
      await using conductor = await startTestConductor()
      const { uuid } = await nodeIn(conductor, from[phase])
      await begin[phase](conductor, uuid!, [{ interface: 'deploy', step: 'wait' }])
      await conductor.settled()
      assert.equal((await conductor.node(uuid!)).provision_state, flow.waiting)
    })

    test('a step for child nodes runs on each child, or on those named', async () => {
      await using conductor = await startTestConductor()
      const parent = await nodeIn(conductor, from[phase])
      const children = [
        await nodeIn(conductor, 'manageable', {
          parent_node: parent.uuid,
          driver_info: { has_dedicated_power_supply: true },
        }),
        await nodeIn(conductor, 'manageable', {
          parent_node: parent.uuid,
          driver_info: { has_dedicated_power_supply: true },
        }),
      ]
      const on = { interface: 'power', step: 'power_on', execute_on_child_nodes: true }
      await begin[phase](conductor, parent.uuid!, [{ ...on, limit_child_node_execution: [children[1]!.uuid] }])
      await conductor.settled()
      const power = async () => Promise.all(children.map(async ({ uuid }) => (await conductor.node(uuid!)).power_state))
      assert.deepEqual(await power(), ['power off', 'power on'])
      if (phase === 'deploy') return
      await begin[phase](conductor, parent.uuid!, [on])
      await conductor.settled()
      assert.deepEqual(await power(), ['power on', 'power on'])
    })
  })
}

test('every reserved step is tried here', () => {
  assert.deepEqual([...reservedSteps], ['power_on', 'power_off', 'reboot', 'hold', 'wait'])
})
