import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delay, parseDelay } from './delay.ts'

test('a delay is a number of seconds, or a range of them', async () => {
  assert.deepEqual(parseDelay(''), [0, 0])
  assert.deepEqual(parseDelay('3'), [3, 3])
  assert.deepEqual(parseDelay('3,10'), [3, 10])
  assert.throws(() => parseDelay('soon'), { name: 'InvalidParameterValue' })
  const slept: number[] = []
  const clock = { now: () => new Date(), sleep: (ms: number) => Promise.resolve(void slept.push(ms)) }
  await delay(clock, '0')
  await delay(clock, '2')
  assert.deepEqual(slept, [2000])
  for (let count = 0; count < 200; count++) await delay(clock, '1,4')
  const ranged = slept.slice(1)
  assert.ok(ranged.every((ms) => ms >= 1000 && ms <= 4000))
  // weighted towards the first number: the mean of that distribution is 2
  const mean = ranged.reduce((sum, ms) => sum + ms, 0) / ranged.length
  assert.ok(mean > 1600 && mean < 2400, `${mean}`)
})
