import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { IronicError } from '../../errors/index.ts'
import type { Port } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { memoryTask } from '../task-for-tests.ts'
import { applyRules, type Rule } from './engine.ts'
import { validateRule } from './validate.ts'

interface RunCase {
  readonly kind: 'run'
  readonly name: string
  readonly rules: JsonDict[]
  readonly node?: JsonDict
  readonly ports?: JsonDict[]
  readonly plugin_data?: JsonDict
  readonly traits?: string[]
  readonly config?: { mask_secrets: 'always' | 'never' | 'sensitive' }
  readonly expect: {
    readonly accepted: boolean
    readonly error?: { class: string; phase: string; ironic?: boolean }
    readonly node_changes?: JsonDict
    readonly port_changes?: JsonDict
    readonly plugin_data?: JsonDict
    readonly http_calls?: string[]
  }
}

const file = new URL('../../../test/vectors/inspection-rules.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as {
  about: { defaults: { inventory: JsonDict; plugin_data: JsonDict; node: JsonDict; ports: JsonDict[] } }
  cases: (RunCase | { kind: 'validity' })[]
}
const { defaults } = vectors.about

/** Where the recorded behaviour is a fault and ours is not: unset-plugin-data never did anything. */
const isFault = (one: RunCase) => JSON.stringify(one.rules).includes('unset-plugin-data')

const uuidOfPort = '5f0a1c9e-0000-4000-8000-000000000001'

function changesOf(before: JsonDict, after: JsonDict): JsonDict {
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])),
  )
}

describe('inspection rules, as measured', () => {
  const calls: string[] = []
  const server = createServer((request, response) => {
    calls.push(request.url ?? '')
    response.statusCode = Number(request.url?.split('/').at(-1))
    response.end()
  })
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => server.close())

  const cases = vectors.cases.filter((one): one is RunCase => one.kind === 'run')
  for (const one of cases) {
    if (one.traits !== undefined || isFault(one)) continue
    it(one.name, async () => {
      calls.length = 0
      const { port } = server.address() as AddressInfo
      const text = JSON.stringify(one.rules)
        .replaceAll('{PORT}', uuidOfPort)
        .replaceAll('127.0.0.1:6960', `127.0.0.1:${port}`)
      const rules = JSON.parse(text) as JsonDict[]
      const node = structuredClone(one.node ?? defaults.node)
      const ports = structuredClone(one.ports ?? defaults.ports).map((own) => ({ ...own, uuid: uuidOfPort }))
      const pluginData = structuredClone(one.plugin_data ?? defaults.plugin_data)
      const { task, ports: kept } = memoryTask({
        node,
        ports,
        config: one.config === undefined ? {} : { inspection_rules: one.config },
      })
      const [nodeBefore, portBefore] = [structuredClone(task.node), structuredClone(kept[0])]
      const validate = () => rules.forEach((rule) => validateRule(rule))
      if (!one.expect.accepted) {
        assert.throws(validate, IronicError)
        return
      }
      validate()
      const run = () =>
        applyRules(
          { task, inventory: structuredClone(defaults.inventory), pluginData },
          rules.map(
            (rule, i) =>
              ({ uuid: `rule-${i}`, priority: 0, sensitive: false, conditions: [], ...rule }) as unknown as Rule,
          ),
        )
      const { error } = one.expect
      if (error === undefined) await run()
      else
        await assert.rejects(
          run,
          (thrown: Error) => thrown instanceof IronicError && (error.ironic === false || thrown.name === error.class),
        )
      const changed = changesOf(nodeBefore, task.node)
      const { provision_updated_at: _time, ...expected } = one.expect.node_changes ?? {}
      assert.deepEqual(changed, expected)
      assert.deepEqual(
        changesOf((portBefore ?? {}) as JsonDict, (kept[0] ?? {}) as Port as JsonDict),
        one.expect.port_changes ?? {},
      )
      if (error === undefined)
        assert.deepEqual(pluginData, one.expect.plugin_data ?? one.plugin_data ?? defaults.plugin_data)
      if (one.expect.http_calls !== undefined) assert.deepEqual(calls, one.expect.http_calls)
    })
  }
})

describe('unset-plugin-data', () => {
  const unset = async (path: string, pluginData: JsonDict) => {
    const { task } = memoryTask({})
    const action = { op: 'unset-plugin-data', args: { path } }
    await applyRules({ task, inventory: {}, pluginData }, [
      { uuid: 'r', priority: 0, sensitive: false, conditions: [], actions: [action] },
    ])
    return pluginData
  }
  it('takes the value away', async () => {
    assert.deepEqual(await unset('deep.a', { deep: { a: 1, b: 2 } }), { deep: { b: 2 } })
  })
  it('leaves the data alone when there is no such value', async () => {
    assert.deepEqual(await unset('none.x', { word: 'w' }), { word: 'w' })
  })
})

describe('regular expressions of rules', () => {
  // a backtracking engine would need for ever
  it('take linear time', { timeout: 20_000 }, async () => {
    const { task } = memoryTask({})
    const hit = { op: 'set-attribute', args: { path: 'extra/hit', value: true } }
    const condition = { op: 'contains', args: { value: 'a'.repeat(5000), regex: '(a+)+b' } }
    await applyRules({ task, inventory: {}, pluginData: {} }, [
      { uuid: 'r', priority: 0, sensitive: false, conditions: [condition], actions: [hit] },
    ])
    assert.deepEqual(task.node.extra, {})
  })
})
