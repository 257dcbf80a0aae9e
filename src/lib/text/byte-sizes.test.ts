import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { bytesFrom, type UnitSystem } from './byte-sizes.ts'

interface Case {
  in: { fn: string; args: [string]; unit_system: UnitSystem; return_int: boolean }
  out?: number
  error?: string
}
const cases = JSON.parse(readFileSync(new URL('../../../test/vectors/utils.json', import.meta.url), 'utf8')) as Case[]

test('sizes are read as oslo.utils does', () => {
  for (const one of cases.filter(({ in: given }) => given.fn === 'string_to_bytes')) {
    const bytes = bytesFrom(one.in.args[0], one.in.unit_system)
    const label = JSON.stringify(one)
    if (one.out === undefined) assert.equal(bytes, undefined, label)
    else assert.equal(one.in.return_int ? Math.ceil(bytes!) : bytes, one.out, label)
  }
})
