import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateNode } from '../../db/nodes.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../../domain/states.ts'
import { createTestNode, startTestConductor, testContext, type TestConductor } from '../for-tests.ts'
import { background } from '../tasks.ts'
import { abandonedNodes } from './orphans.ts'

const config = { conductor: { check_provision_state_interval: 0, heartbeat_interval: 3600 } }

async function oldNode(conductor: TestConductor, provision_state: string) {
  const { id, uuid } = await createTestNode(conductor)
  await updateNode(conductor.db, id, { provision_state })
  const provision_updated_at = '2020-01-01 00:00:00.000000'
  await conductor.db.sql.updateTable('nodes').set({ provision_updated_at }).where('id', '=', id).execute()
  return { id, uuid: uuid! }
}

test('a running state that nobody works in ends in its fail state', async () => {
  await using conductor = await startTestConductor({ config })
  const { parts } = conductor.running
  for (const state of STUCK_STATES_TREATED_AS_FAIL) {
    const { uuid } = await oldNode(conductor, state!)
    await abandonedNodes(parts.config).run(parts)
    const { provision_state, last_error, reservation } = await conductor.node(uuid)
    assert.ok(!STUCK_STATES_TREATED_AS_FAIL.has(provision_state), `${state}: ${provision_state}`)
    assert.match(last_error!, new RegExp(state!))
    assert.equal(reservation, null)
  }
})

test('work that has lent its lock to a heartbeat is left alone, and so is what is young', async () => {
  await using conductor = await startTestConductor({ config })
  const { parts } = conductor.running
  const { id, uuid } = await oldNode(conductor, 'deploying')
  const { promise, resolve } = Promise.withResolvers<void>()
  await parts.tasks.background<void>(testContext, id, 'test', async (task) =>
    background(async () => {
      await task.downgradeLock()
      await promise
    }),
  )
  const young = await createTestNode(conductor)
  await updateNode(conductor.db, young.id, { provision_state: 'cleaning' })
  // the lock is lent in the background
  while ((await conductor.node(uuid)).reservation !== null) await new Promise((done) => setTimeout(done, 5))
  await abandonedNodes(parts.config).run(parts)
  assert.equal((await conductor.node(uuid)).provision_state, 'deploying')
  assert.equal((await conductor.node(young.uuid!)).provision_state, 'cleaning')
  resolve()
  await conductor.settled()
})
