import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testConfig } from '../config/for-tests.ts'
import { registerConductor, registerHardwareInterfaces, unregisterConductor } from '../db/conductors.ts'
import { openDatabase } from '../db/database.ts'
import { createSchema } from '../db/migrations/index.ts'
import { adminContext } from '../domain/context.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import { conductorContract, type ConductorService } from './conductor.ts'
import { conductorRing } from './ring.ts'
import { conductorRouting } from './routing.ts'
import { localTransport } from './transports/local.ts'

const uuid = 'ccf5df2a-a6ef-5b0f-b122-4ae04ba1e0b2'

async function cluster(hosts: Record<string, { group?: string; types: string[] }>) {
  const db = await openDatabase('sqlite://')
  await createSchema(db)
  for (const [hostname, { group = '', types }] of Object.entries(hosts)) {
    const { id } = await registerConductor(db, { hostname, drivers: types, conductor_group: group })
    const offer = { interface_type: 'power', interface_name: 'fake', default: true }
    await registerHardwareInterfaces(
      db,
      id,
      types.map((hardware_type) => ({ hardware_type, ...offer })),
    )
  }
  let time = new Date('2026-01-01T00:00:00Z')
  const clock = { now: () => time, sleep: () => Promise.resolve() }
  const ring = conductorRing({ db, config: testConfig(), clock })
  return {
    db,
    ring,
    pass: (seconds: number) => {
      time = new Date(time.getTime() + seconds * 1000)
    },
    [Symbol.asyncDispose]: () => db.close(),
  }
}

test('a node is served by its hardware type and conductor group, whatever the case of the group', async () => {
  await using c = await cluster({
    one: { types: ['fake-hardware'] },
    other: { group: 'Rack-A', types: ['fake-hardware', 'redfish'] },
  })
  assert.equal(await c.ring.hostOfNode({ uuid, driver: 'fake-hardware', conductor_group: '' }), 'one')
  assert.equal(await c.ring.hostOfNode({ uuid, driver: 'fake-hardware', conductor_group: 'rack-a' }), 'other')
  assert.equal(await c.ring.maps('other', { uuid, driver: 'redfish', conductor_group: 'rack-a' }), true)
  assert.equal(await c.ring.maps('other', { uuid, driver: 'nope', conductor_group: 'rack-a' }), false)
  await assert.rejects(c.ring.hostOfNode({ uuid, driver: 'redfish', conductor_group: '' }), { name: 'NoValidHost' })
  await assert.rejects(c.ring.anyHostOfDriver('nope'), { name: 'DriverNotFound' })
})

test('a host that is gone is noticed after the interval; one that is missed is looked for at once', async () => {
  await using c = await cluster({ one: { types: ['fake-hardware'] } })
  const node = { uuid, driver: 'fake-hardware', conductor_group: '' }
  assert.equal(await c.ring.hostOfNode(node), 'one')
  await unregisterConductor(c.db, 'one')
  assert.equal(await c.ring.hostOfNode(node), 'one')
  c.pass(16)
  await assert.rejects(c.ring.hostOfNode(node), { name: 'NoValidHost' })
  await registerConductor(c.db, { hostname: 'one', drivers: ['fake-hardware'] })
  assert.equal(await c.ring.hostOfNode(node), 'one')
})

test('clients reach their host; upkeep of a node whose hardware type is gone reaches anybody', async () => {
  await using c = await cluster({ one: { types: ['fake-hardware'] } })
  const transport = localTransport(silentLogger)
  const asked: string[] = []
  const service = {
    inject_nmi: (_context: unknown, { node_id }: { node_id: string }) => Promise.resolve(void asked.push(node_id)),
    set_boot_device: (_context: unknown, args: unknown) => Promise.resolve(void asked.push(JSON.stringify(args))),
    continue_node_clean: () => Promise.reject(new Error('a cast tells nobody')),
  } as unknown as ConductorService
  const server = await transport.serve(conductorContract, 'one', service)
  const routing = conductorRouting(c.ring, transport)
  const context = adminContext('req-test')
  const node = { uuid, driver: 'fake-hardware', conductor_group: '' }
  await (await routing.ofNode(node)).inject_nmi(context, { node_id: 'a' })
  await (await routing.ofDriver('fake-hardware')).inject_nmi(context, { node_id: 'b' })
  await (await routing.any()).set_boot_device(context, { node_id: 'c', device: 'pxe' })
  await (await routing.ofNode(node)).continue_node_clean(context, { node_id: 'd' })
  assert.deepEqual(asked, ['a', 'b', '{"persistent":false,"node_id":"c","device":"pxe"}'])
  const gone = { ...node, driver: 'nope' }
  await assert.rejects(routing.ofNode(gone), { name: 'NoValidHost' })
  await (await routing.forUpkeep(gone)).inject_nmi(context, { node_id: 'e' })
  assert.equal(asked.at(-1), 'e')
  await server[Symbol.asyncDispose]()
  await assert.rejects((await routing.ofNode(node)).inject_nmi(context, { node_id: 'f' }), { name: 'NoValidHost' })
})
