import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { releaseNode, reserveNode } from '../db/nodes.ts'
import { createTestNode, startTestConductor, testContext } from './for-tests.ts'
import { background } from './tasks.ts'

const quick = { conductor: { node_locked_retry_interval: 0, heartbeat_interval: 3600 } }

describe('the lock', () => {
  test('is held while the body runs, and given back however it ends', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { tasks } = conductor.running.parts
    const { id, uuid } = await createTestNode(conductor)
    const holder = async () => (await conductor.node(uuid!)).reservation
    await tasks.exclusive(testContext, id, 'test', async () => assert.equal(await holder(), conductor.running.host))
    assert.equal(await holder(), null)
    await assert.rejects(
      tasks.exclusive(testContext, uuid!, 'test', () => Promise.reject(new Error('no'))),
      /no/,
    )
    assert.equal(await holder(), null)
    await tasks.shared(testContext, id, 'test', async (task) => {
      assert.equal(await holder(), null)
      await task.upgradeLock()
      assert.equal(await holder(), conductor.running.host)
      await task.downgradeLock()
      assert.equal(await holder(), null)
    })
  })

  test('somebody else’s is waited for, but not for ever', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { tasks } = conductor.running.parts
    const { id, uuid } = await createTestNode(conductor)
    await reserveNode(conductor.db, id, 'another')
    await assert.rejects(
      tasks.exclusive(testContext, id, 'test', () => Promise.resolve()),
      { name: 'NodeLocked', code: 409, message: new RegExp(`${uuid} is locked by host another`) },
    )
    const patient = tasks.exclusive(testContext, id, 'test', () => Promise.resolve('mine'), { patient: true })
    await new Promise((resolve) => setTimeout(resolve, 20))
    await releaseNode(conductor.db, 'another', id)
    assert.equal(await patient, 'mine')
  })

  test('of a node that waits for it in the same process is handed on without a pause', async () => {
    await using conductor = await startTestConductor({ config: { conductor: { node_locked_retry_interval: 60 } } })
    const { tasks } = conductor.running.parts
    const { id } = await createTestNode(conductor)
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = tasks.exclusive(testContext, id, 'first', () => promise)
    const second = tasks.exclusive(testContext, id, 'second', () => Promise.resolve('mine'))
    setTimeout(resolve, 20)
    await first
    assert.equal(await second, 'mine')
  })

  test('is needed to write', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { id } = await createTestNode(conductor)
    await conductor.running.parts.tasks.shared(testContext, id, 'test', async (task) => {
      task.node.name = 'other'
      await assert.rejects(task.save(), { name: 'ExclusiveLockRequired' })
      await assert.rejects(task.fire('manage'), { name: 'ExclusiveLockRequired' })
    })
  })
})

describe('background work', () => {
  test('carries the lock along and releases it at its end', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { tasks } = conductor.running.parts
    const { id, uuid } = await createTestNode(conductor)
    const { promise, resolve } = Promise.withResolvers<void>()
    await tasks.background<void>(testContext, id, 'test', async () => background(() => promise))
    assert.equal((await conductor.node(uuid!)).reservation, conductor.running.host)
    resolve()
    await conductor.settled()
    assert.equal((await conductor.node(uuid!)).reservation, null)
  })

  test('that fails leaves its reason in last_error', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { id, uuid } = await createTestNode(conductor)
    await conductor.running.parts.tasks.background<void>(testContext, id, 'testing', async () =>
      background(() => Promise.reject(new Error('no luck'))),
    )
    await conductor.settled()
    const { last_error, reservation } = await conductor.node(uuid!)
    assert.match(last_error!, /testing failed: no luck/)
    assert.equal(reservation, null)
  })

  test('is refused before anything is written when no worker is free', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { workers } = conductor.running.parts
    const { uuid } = await createTestNode(conductor)
    await conductor.settled()
    const held = Array.from({ length: workers.limit + workers.reserved }, () => workers.reserve())
    await assert.rejects(conductor.rpc.do_provisioning_action(testContext, { node_id: uuid!, action: 'manage' }), {
      name: 'NoFreeConductorWorker',
      code: 503,
    })
    const { provision_state, last_error, reservation } = await conductor.node(uuid!)
    assert.deepEqual([provision_state, last_error, reservation], ['enroll', null, null])
    for (const slot of held) slot.free()
  })
})

describe('saving', () => {
  test('writes the fields that changed, and no others', async () => {
    await using conductor = await startTestConductor({ config: quick })
    const { id, uuid } = await createTestNode(conductor, { extra: { a: 1 } })
    await conductor.running.parts.tasks.exclusive(testContext, id, 'test', async (task) => {
      // somebody without the lock sets another field meanwhile
      await conductor.db.sql.updateTable('nodes').set({ description: 'theirs' }).where('id', '=', id).execute()
      task.node.extra!['b'] = 2
      await task.save()
    })
    const { extra, description } = await conductor.node(uuid!)
    assert.deepEqual([extra, description], [{ a: 1, b: 2 }, 'theirs'])
  })
})
