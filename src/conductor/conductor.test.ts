import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestNode, startTestConductor, testContext } from './for-tests.ts'

test('fake hardware goes its whole way', async () => {
  await using conductor = await startTestConductor()
  const { rpc } = conductor
  const { uuid } = await createTestNode(conductor)
  const node_id = uuid!
  const act = async (work: Promise<void>, state: string) => {
    await work
    await conductor.settled()
    const node = await conductor.node(node_id)
    assert.deepEqual(
      [node.provision_state, node.target_provision_state, node.last_error, node.reservation],
      [state, null, null, null],
    )
    return node
  }
  await act(rpc.do_provisioning_action(testContext, { node_id, action: 'manage' }), 'manageable')
  await act(rpc.do_provisioning_action(testContext, { node_id, action: 'provide' }), 'available')
  await act(rpc.change_node_power_state(testContext, { node_id, new_state: 'power on' }), 'available')
  assert.equal((await conductor.node(node_id)).power_state, 'power on')
  await act(rpc.do_node_deploy(testContext, { node_id }), 'active')
  await act(rpc.do_node_tear_down(testContext, { node_id }), 'available')
  await rpc.destroy_node(testContext, { node_id })
  await assert.rejects(conductor.node(node_id), { name: 'NodeNotFound' })
})
