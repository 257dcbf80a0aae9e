import assert from 'node:assert/strict'
import { it } from 'node:test'
import { optionsActedUpon } from '../../src/config/acted-upon-table.ts'
import { optionsRead } from './option-reads.ts'

it('the table of options acted upon is what the code reads', async () => {
  const read = await optionsRead()
  const flat = (table: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(table).flatMap(([group, names]) => names.map((name) => `[${group}]${name}`))
  const missing = flat(read).filter((option) => !flat(optionsActedUpon).includes(option))
  const surplus = flat(optionsActedUpon).filter((option) => !flat(read).includes(option))
  const advice = 'run: node_modules/.bin/node test/architecture/write-acted-upon.ts'
  assert.deepEqual({ missing, surplus }, { missing: [], surplus: [] }, advice)
})
