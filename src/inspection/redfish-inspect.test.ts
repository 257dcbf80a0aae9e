import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../db/database.ts'
import { createSchema } from '../db/migrations/index.ts'
import { getNodeInventory } from '../db/node-inventory.ts'
import { createNode } from '../db/nodes.ts'
import { redfishBench } from '../drivers/redfish/for-tests.ts'
import { HardwareInspectionFailure } from '../errors/driver.ts'
import { error, ScriptedBmc, standardTree, systemPath } from '../lib/redfish/for-tests.ts'
import { RedfishInspect } from './redfish-inspect.ts'

async function inspect(tree: Readonly<Record<string, Record<string, unknown>>> = standardTree, properties = {}) {
  const bmc = await ScriptedBmc.start(tree)
  const db = await openDatabase('sqlite://', {})
  await createSchema(db)
  const bench = redfishBench(bmc, { node: { provision_state: 'inspecting', properties }, db })
  await createNode(db, { uuid: bench.node.uuid, driver: 'redfish' })
  const face = new RedfishInspect(bench.parts)
  const close = async () => {
    await bench[Symbol.asyncDispose]()
    await db.close()
    await bmc.closeServer()
  }
  return { bmc, db, bench, face, [Symbol.asyncDispose]: close }
}

test('what the BMC knows becomes properties, ports and the inventory', async () => {
  await using it = await inspect()
  await it.face.inspectHardware(it.bench.task)
  assert.deepEqual(it.bench.node.properties, {
    memory_mb: 16384,
    local_gb: 446,
    cpu_arch: 'x86_64',
    capabilities: 'boot_mode:uefi',
  })
  assert.deepEqual(
    it.bench.ports.map((port) => port.address),
    ['52:54:00:aa:bb:01', '52:54:00:aa:bb:02'],
  )
  const { inventory_data: inventory } = await getNodeInventory(it.db, 1)
  assert.deepEqual(inventory!['cpu'], { count: 16, architecture: 'x86_64', model_name: 'Some CPU', frequency: 3000 })
  assert.deepEqual(inventory!['interfaces'][0], { mac_address: '52:54:00:aa:bb:01', name: '1', speed_mbps: 10000 })
  assert.deepEqual(inventory!['disks'], [
    { name: 'Drive 1', size: 480103981056, vendor: null, model: 'D', serial: 'S1', rotational: false },
  ])
  assert.deepEqual(inventory!['boot'], { current_boot_mode: 'uefi' })
})

test('each missing part is an empty part; what must be known is named', async () => {
  const without = (...names: string[]) => {
    const system = structuredClone(standardTree[systemPath]!)
    for (const name of names) delete system[name]
    return { ...standardTree, [systemPath]: system }
  }
  await using it = await inspect(without('Storage', 'Links', 'Boot', 'SecureBoot', 'Bios'))
  await it.face.inspectHardware(it.bench.task)
  assert.equal(it.bench.node.properties!['local_gb'], 0)
  await using blind = await inspect(without('MemorySummary', 'Processors'))
  await assert.rejects(
    blind.face.inspectHardware(blind.bench.task),
    (thrown) => thrown instanceof HardwareInspectionFailure && /memory_mb/.test(thrown.message),
  )
  await using failing = await inspect()
  failing.bmc.when('GET', /Storage\/1\/Drives/, error(400, 'GeneralError', 'no'))
  await failing.face.inspectHardware(failing.bench.task)
  assert.equal(failing.bench.node.properties!['local_gb'], 0)
})

test('a boot mode that the operator has set stays', async () => {
  await using it = await inspect(standardTree, { capabilities: 'boot_mode:bios,x:y' })
  await it.face.inspectHardware(it.bench.task)
  assert.equal(it.bench.node.properties!['capabilities'], 'boot_mode:bios,x:y')
})

test('a second inspection shows what is there now', async () => {
  await using it = await inspect()
  await it.face.inspectHardware(it.bench.task)
  it.bmc.resource(`${systemPath}/Storage`)['Members'] = []
  await it.face.inspectHardware(it.bench.task)
  assert.equal(it.bench.node.properties!['local_gb'], 0)
  assert.equal((await getNodeInventory(it.db, 1)).inventory_data!['disks'], undefined)
})
