import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { testConfig } from '../../config/for-tests.ts'
import { openDatabase, type Db } from '../../db/database.ts'
import { createSchema } from '../../db/migrations/index.ts'
import { storeNodeInventory } from '../../db/node-inventory.ts'
import { createNode } from '../../db/nodes.ts'
import { HardwareInspectionFailure } from '../../errors/index.ts'
import type { Port } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { hooksNamed, runHooks } from '../run-hooks.ts'
import { memoryTask } from '../task-for-tests.ts'
import { inspectionHooks } from './index.ts'

interface HookCase {
  readonly hook: string
  readonly name: string
  readonly config?: JsonDict
  readonly node?: JsonDict
  readonly ports?: JsonDict[]
  readonly ports_of_other_nodes?: { address: string }[]
  readonly previous_inventory?: JsonDict
  readonly inventory: JsonDict
  readonly plugin_data: JsonDict
  readonly expect: {
    readonly error?: { class: string; phase: string; ironic: boolean }
    readonly properties: JsonDict
    readonly plugin_data: JsonDict
    readonly ports: JsonDict[]
    readonly ports_deleted: string[]
  }
}

const file = new URL('../../../test/vectors/inspection-hooks.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: HookCase[] }

describe('inspection hooks, as measured', () => {
  let db: Db
  before(async () => {
    db = await openDatabase('sqlite://')
    await createSchema(db)
  })
  after(() => db.close())

  for (const one of cases)
    it(one.name, async () => {
      const row = await createNode(db, { driver: 'fake-hardware' })
      if (one.previous_inventory !== undefined)
        await storeNodeInventory(db, row.id, { inventory_data: one.previous_inventory, plugin_data: null })
      const { task, ports, deleted } = memoryTask({
        node: { ...row, ...one.node },
        ports: one.ports ?? [],
        taken: (one.ports_of_other_nodes ?? []).map((port) => port.address),
        config: { inspector: one.config ?? {} },
        db,
      })
      const hook = inspectionHooks.find((candidate) => candidate.name === one.hook)
      assert.ok(hook)
      const inventory = structuredClone(one.inventory)
      const pluginData = structuredClone(one.plugin_data)
      const run = () =>
        runHooks({ task, inventory, pluginData }, hooksNamed('test', [...(hook.dependencies ?? []), hook.name]))
      const { expect } = one
      if (expect.error !== undefined) await assert.rejects(run, HardwareInspectionFailure)
      else await run()
      assert.deepEqual(inventory, one.inventory, 'the inventory stays as it came')
      if (expect.error?.ironic !== false) assert.deepEqual(task.node.properties, expect.properties)
      if (expect.error === undefined) assert.deepEqual(JSON.parse(JSON.stringify(pluginData)), expect.plugin_data)
      const known = new Set((one.ports ?? []).map((port) => port.address as string))
      const shown = (port: Port) =>
        Object.fromEntries(
          Object.keys(expect.ports[0] ?? {}).map((key) => [
            key,
            key === 'origin' ? (known.has(port.address ?? '') ? 'existing' : 'created') : port[key as keyof Port],
          ]),
        )
      const byAddress = (a: JsonDict, b: JsonDict) => String(a.address).localeCompare(String(b.address))
      assert.deepEqual(ports.map(shown).toSorted(byAddress), expect.ports.toSorted(byAddress))
      assert.deepEqual(deleted.toSorted(), expect.ports_deleted.toSorted())
    })
})

describe('the option that names hooks', () => {
  const refused = (names: string[], sentence: RegExp) =>
    assert.throws(() => hooksNamed('[inspector]hooks', names), sentence)
  it('refuses a hook that does not exist', () => refused(['nonsense'], /there is no hook nonsense/))
  it('refuses a hook before the one that it needs', () =>
    refused(['ports', 'validate-interfaces'], /ports needs validate-interfaces/))
  it('takes the stock list', () => {
    const names = testConfig().inspector.default_hooks.split(',')
    assert.deepEqual(
      hooksNamed('[inspector]hooks', names).map((hook) => hook.name),
      names,
    )
  })
})
