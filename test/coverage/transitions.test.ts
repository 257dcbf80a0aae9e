/** Every transition of the machine, and every verb in every state. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { createTestNode, startTestConductor, testContext, type TestConductor } from '../../src/conductor/for-tests.ts'
import { updateNode } from '../../src/db/nodes.ts'
import { eventsOf, isStableState, provisionStates, stateAfter, transitions } from '../../src/domain/machine.ts'
import { verbs, type Verb } from '../../src/domain/verbs.ts'

const facts: {
  states: Record<string, { stable: boolean; target: string | null }>
  transitions: [string, string, string][]
  verbs_accepted_by_state: Record<string, string[]>
} = JSON.parse(await readFile(new URL('../facts/state-machine.json', import.meta.url), 'utf8'))

describe('the provision machine', () => {
  test('states and transitions are real Ironic’s', () => {
    const ours = Object.entries(provisionStates).map(([name, { stable, target }]) => [name, { stable, target }])
    const theirs = Object.entries(facts.states).map(([name, { stable, target }]) => [name, { stable, target }])
    assert.deepEqual(Object.fromEntries(ours), Object.fromEntries(theirs))
    assert.deepEqual(
      transitions.map((each) => [...each]),
      facts.transitions,
    )
    for (const [from, event, to] of facts.transitions) {
      assert.equal(stateAfter(from, event), to)
      assert.ok(eventsOf(from).includes(event as never))
    }
  })

  test('each transition writes the state and the target that the new state declares', async () => {
    await using conductor = await startTestConductor()
    const { id } = await createTestNode(conductor)
    for (const [from, event, to] of transitions) {
      await updateNode(conductor.db, id, {
        provision_state: from,
        target_provision_state: provisionStates[from].target,
      })
      await conductor.running.parts.tasks.exclusive(testContext, id, 'test', async (task) => {
        await task.fire(event)
        assert.deepEqual(
          [task.node.provision_state, task.node.target_provision_state],
          [to, isStableState(to) ? null : provisionStates[to].target],
          `${from}, ${event}`,
        )
      })
    }
  })

  test('what the machine does not know is refused, and the row stays', async () => {
    await using conductor = await startTestConductor()
    const { id, uuid } = await createTestNode(conductor)
    const events = [...new Set(transitions.map(([, event]) => event))]
    for (const from of Object.keys(provisionStates)) {
      await updateNode(conductor.db, id, { provision_state: from })
      const known = eventsOf(from)
      for (const event of events.filter((each) => !known.includes(each))) {
        await assert.rejects(
          conductor.running.parts.tasks.exclusive(testContext, id, 'test', (task) => task.fire(event)),
          { name: 'InvalidState' },
          `${from}, ${event}`,
        )
      }
      assert.equal((await conductor.node(uuid!)).provision_state, from)
    }
  })
})

describe('verbs', () => {
  for (const state of Object.keys(provisionStates)) {
    test(`in ${state}`, async () => {
      await using conductor = await startTestConductor({ config: { conductor: { automated_clean: false } } })
      for (const verb of Object.keys(verbs) as Verb[]) {
        const { id, uuid } = await createTestNode(conductor, { instance_info: { image_source: 'http://x/i' } })
        await updateNode(conductor.db, id, {
          provision_state: state,
          target_provision_state: facts.states[state]!.target,
          power_state: 'power off',
        })
        const accepted = facts.verbs_accepted_by_state[state]!.includes(verb)
        const call = ask(conductor, verb, uuid!)
        // the machine takes the verb; the fake inspection cannot be aborted, which is another matter
        const outcome = await call.then(
          () => 'taken',
          (error: unknown) => (error as Error).name,
        )
        if (accepted)
          assert.ok(['taken', 'UnsupportedDriverExtension'].includes(outcome), `${verb} in ${state}: ${outcome}`)
        else await assert.rejects(call, { name: 'InvalidStateRequested' }, `${verb} in ${state}`)
        await conductor.settled()
        assert.equal((await conductor.node(uuid!)).reservation, null)
      }
    })
  }
})

const step = [{ interface: 'bios', step: 'cache_bios_settings' }]

function ask({ rpc }: TestConductor, verb: Verb, node_id: string): Promise<void> {
  const { rpc: method, event } = verbs[verb]
  switch (method) {
    case 'do_node_deploy':
      return rpc.do_node_deploy(testContext, { node_id, rebuild: verb === 'rebuild' })
    case 'do_node_tear_down':
      return rpc.do_node_tear_down(testContext, { node_id })
    case 'inspect_hardware':
      return rpc.inspect_hardware(testContext, { node_id })
    case 'do_node_clean':
      return rpc.do_node_clean(testContext, { node_id, clean_steps: step })
    case 'do_node_service':
      return rpc.do_node_service(testContext, {
        node_id,
        service_steps: [{ interface: 'vendor', step: 'log_passthrough' }],
      })
    case 'do_node_rescue':
      return rpc.do_node_rescue(testContext, { node_id, rescue_password: 'pw' })
    case 'do_node_unrescue':
      return rpc.do_node_unrescue(testContext, { node_id })
    case 'do_provisioning_action':
      return rpc.do_provisioning_action(testContext, { node_id, action: event })
  }
}
