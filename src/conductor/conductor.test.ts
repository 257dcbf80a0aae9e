import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listHardwareInterfaces, onlineConductors } from '../db/conductors.ts'
import { openDatabase } from '../db/database.ts'
import { createSchema } from '../db/migrations/index.ts'
import { updateNode } from '../db/nodes.ts'
import { interfaceTypes } from '../domain/interfaces.ts'
import { FakeDeploy } from '../drivers/fake/deploy.ts'
import { interfaceClasses } from '../drivers/interface-classes.ts'
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

/** A deploy that ends when it is told to. */
function gatedDeploy() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const interfaces = {
    ...interfaceClasses,
    deploy: {
      ...interfaceClasses.deploy,
      fake: class extends FakeDeploy {
        override async prepare(): Promise<void> {
          begun.resolve()
          await promise
        }
      },
    },
  }
  return { interfaces, open: resolve, begun: begun.promise }
}

async function deploying(gate: ReturnType<typeof gatedDeploy>) {
  const conductor = await startTestConductor({ interfaces: gate.interfaces })
  const { id, uuid } = await createTestNode(conductor)
  await updateNode(conductor.db, id, { provision_state: 'available', power_state: 'power off' })
  await conductor.rpc.do_node_deploy(testContext, { node_id: uuid! })
  await gate.begun
  return { conductor, node_id: uuid! }
}

test('a conductor that stops lets its work end, takes no more, and is gone then', async () => {
  const gate = gatedDeploy()
  const { conductor, node_id } = await deploying(gate)
  await using _closing = conductor
  const stopped = conductor.running.stop({ timeout: 10 })
  const { uuid: other } = await createTestNode(conductor)
  await assert.rejects(conductor.rpc.do_provisioning_action(testContext, { node_id: other!, action: 'manage' }), {
    name: 'NoFreeConductorWorker',
  })
  assert.deepEqual(await onlineConductors(conductor.db, 60), [conductor.running.host])
  gate.open()
  await stopped
  const { provision_state, reservation } = await conductor.node(node_id)
  assert.deepEqual([provision_state, reservation], ['active', null])
  assert.deepEqual(await onlineConductors(conductor.db, 60), [])
})

test('work that does not end in time is cut off, and repaired at the next start', async () => {
  const gate = gatedDeploy()
  const { conductor, node_id } = await deploying(gate)
  await using _closing = conductor
  await conductor.running.stop({ timeout: 0 })
  assert.equal((await conductor.node(node_id)).reservation, null)
  await using next = await conductor.restart({ crash: true })
  assert.equal((await next.node(node_id)).provision_state, 'deploy failed')
  gate.open()
})

test('a registration tells the hardware types, and the interfaces with their defaults', async () => {
  await using conductor = await startTestConductor()
  const { db, running } = conductor
  assert.deepEqual(running.row.drivers, ['fake-hardware'])
  const offers = await listHardwareInterfaces(db, 60)
  const defaults = offers.filter((offer) => offer.default)
  assert.equal(defaults.length, interfaceTypes.length)
  assert.ok(
    offers.some(({ interface_type, interface_name }) => interface_type === 'bios' && interface_name === 'no-bios'),
  )
})

test('a start takes over the entry of an earlier run that did not end well', async () => {
  await using first = await startTestConductor()
  await using second = await first.restart({ crash: true })
  assert.equal(second.running.row.id, first.running.row.id)
})

test('a configuration that cannot work leaves no entry behind', async () => {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  await assert.rejects(startTestConductor({ db, config: { DEFAULT: { enabled_power_interfaces: ['nope'] } } }), {
    name: 'DriverNotFoundInEntrypoint',
  })
  assert.deepEqual(await onlineConductors(db, 60), [])
  await db.close()
})
