import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { releaseNode, reserveNode, updateNode } from '../db/nodes.ts'
import { FakePower } from '../drivers/fake/power.ts'
import { interfaceClasses } from '../drivers/interface-classes.ts'
import type { Node } from '../objects/index.ts'
import { createTestNode, startTestConductor, testContext, type TestConductor } from './for-tests.ts'

const quick = { conductor: { node_locked_retry_interval: 0, heartbeat_interval: 3600 } }

async function node(conductor: TestConductor, power_state: string, values: Partial<Node> = {}): Promise<Node> {
  const { id, uuid } = await createTestNode(conductor, values)
  await updateNode(conductor.db, id, { power_state, provision_state: 'available' })
  return conductor.node(uuid!)
}

async function power(conductor: TestConductor, { uuid }: Node, new_state: string): Promise<Node> {
  await conductor.rpc.change_node_power_state(testContext, { node_id: uuid!, new_state })
  await conductor.settled()
  return conductor.node(uuid!)
}

/** A power interface that fails. */
const broken = {
  ...interfaceClasses,
  power: {
    ...interfaceClasses.power,
    fake: class extends FakePower {
      override setPowerState(): Promise<void> {
        return Promise.reject(new Error('the BMC is on fire'))
      }
    },
  },
}

describe('a power change', () => {
  test('is in the row while it runs, and its end when it has ended', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const subject = await node(conductor, 'power off', { instance_info: {} })
    const after = await power(conductor, subject, 'power on')
    assert.deepEqual([after.power_state, after.target_power_state, after.last_error], ['power on', null, null])
    assert.equal(typeof after.driver_internal_info!['last_power_state_change'], 'string')
    assert.deepEqual(
      conductor.notifications.map(({ event, status, source }) => [event, status, source['target_power_state']]),
      [
        ['node.power_set', 'start', 'power on'],
        ['node.power_set', 'end', null],
      ],
    )
  })

  test('that fails says so, and the state is the one before', async () => {
    await using conductor = await startTestConductor({ config: quick, interfaces: broken })
    const after = await power(conductor, await node(conductor, 'power off'), 'power on')
    assert.deepEqual([after.power_state, after.target_power_state, after.reservation], ['power off', null, null])
    assert.match(after.last_error!, /power on.*the BMC is on fire/)
  })

  test('that the driver does not know is refused', async () => {
    await using conductor = await startTestConductor({ config: quick })
    await assert.rejects(power(conductor, await node(conductor, 'power off'), 'half on'), {
      name: 'InvalidParameterValue',
    })
  })

  test('to off is refused for a machine that must stay on, and leaves no target', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const after = await power(conductor, await node(conductor, 'power on', { disable_power_off: true }), 'power off')
    assert.deepEqual([after.power_state, after.target_power_state], ['power on', null])
    assert.match(after.last_error!, /disable_power_off/)
  })

  test('to off ends the agent’s session, but not a token that is in its image', async () => {
    await using conductor = await startTestConductor({ config: quick })
    for (const pregenerated of [true, false]) {
      const subject = await node(conductor, 'power on')
      const session = {
        agent_url: 'https://x',
        agent_secret_token: 't',
        agent_verify_ca: '/x',
        agent_cached_clean_steps: {},
      }
      await updateNode(conductor.db, subject.id, {
        driver_internal_info: { ...session, ...(pregenerated ? { agent_secret_token_pregenerated: true } : {}) },
      })
      const { driver_internal_info: info } = await power(conductor, subject, 'power off')
      const kept = pregenerated ? ['agent_secret_token', 'agent_secret_token_pregenerated'] : []
      assert.deepEqual(Object.keys(info!).sort(), [...kept, 'last_power_state_change'].sort())
    }
  })
})

describe('parents and children', () => {
  test('a child without a power supply of its own needs its parent on', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const parent = await node(conductor, 'power off')
    const child = await node(conductor, 'power off', { parent_node: parent.uuid })
    await power(conductor, child, 'power on')
    assert.equal((await conductor.node(parent.uuid!)).power_state, 'power on')
  })

  test('a child with one does not', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const parent = await node(conductor, 'power off')
    const driver_info = { has_dedicated_power_supply: true }
    await power(conductor, await node(conductor, 'power off', { parent_node: parent.uuid, driver_info }), 'power on')
    assert.equal((await conductor.node(parent.uuid!)).power_state, 'power off')
  })

  test('children go off with their parent, and all locks are given back', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const parent = await node(conductor, 'power on')
    const children = [
      await node(conductor, 'power on', { parent_node: parent.uuid }),
      await node(conductor, 'power off', { parent_node: parent.uuid }),
    ]
    await power(conductor, parent, 'power off')
    for (const { uuid } of children) {
      const { power_state, reservation } = await conductor.node(uuid!)
      assert.deepEqual([power_state, reservation], ['power off', null])
    }
  })

  test('a child that is locked keeps its parent on, and its sisters too', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const parent = await node(conductor, 'power on')
    const free = await node(conductor, 'power on', { parent_node: parent.uuid })
    const locked = await node(conductor, 'power on', { parent_node: parent.uuid })
    await reserveNode(conductor.db, locked.id, 'another')
    const after = await power(conductor, parent, 'power off')
    assert.equal(after.power_state, 'power on')
    assert.match(after.last_error!, new RegExp(locked.uuid!))
    const sister = await conductor.node(free.uuid!)
    assert.deepEqual([sister.power_state, sister.reservation], ['power on', null])
    await releaseNode(conductor.db, 'another', locked.id)
  })
})
