import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauses } from './polling.ts'

test('pauses are short at first and add up to all intervals', () => {
  assert.deepEqual([...pauses(6000, 3)], [1000, 2000, 3000, 6000, 6000])
  assert.deepEqual([...pauses(6000, 1)], [1000, 2000, 3000])
  assert.deepEqual([...pauses(6000, 0)], [])
  assert.equal(
    [...pauses(5000, 6)].reduce((sum, pause) => sum + pause, 0),
    30_000,
  )
})
