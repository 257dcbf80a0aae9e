import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ConfigError } from '../lib/oslo-config/errors.ts'
import { loadIronicConfig } from './load.ts'

interface Case {
  in: { text: string; read: string; env?: Record<string, string> }
  out?: unknown
  error?: string
}
const cases = JSON.parse(
  readFileSync(new URL('../../test/vectors/oslo-config-ironic.json', import.meta.url), 'utf8'),
) as Case[]

describe('the recorded cases of ironic.conf', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'openkeel-config-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [index, { in: given, out, error }] of cases.entries()) {
    it(`case ${index}: ${JSON.stringify(given)}`, () => {
      const file = join(folder, `${index}.conf`)
      writeFileSync(file, given.text)
      const load = () =>
        loadIronicConfig({ program: 'ironic', args: ['--config-file', file], env: { HOME: folder, ...given.env } })
      if (error !== undefined) {
        assert.throws(load, (thrown) => thrown instanceof ConfigError && thrown.kind === error)
        return
      }
      const [name = '', group = 'DEFAULT'] = given.read.split('/').toReversed()
      const value = (load().config as unknown as Record<string, Record<string, unknown>>)[group]![name]
      assert.deepEqual(plain(value), out)
    })
  }
})

/** The recordings write a range of ports as Python's range. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null && 'step' in value && 'stop' in value && 'start' in value) {
    return { range: [value.start, value.stop, value.step] }
  }
  return value
}
