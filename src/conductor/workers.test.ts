import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testConfig } from '../config/for-tests.ts'
import { silentLogger, type Logger } from '../lib/oslo-log/logger.ts'
import { Workers } from './workers.ts'

const workersOf = (size: number, share: number, log: Logger = silentLogger) =>
  new Workers(
    testConfig({
      conductor: {
        workers_pool_size: size,
        reserved_workers_pool_percentage: share,
        sync_power_state_workers: 1,
        periodic_max_workers: 0,
      },
    }),
    log,
  )
const never = () => new Promise<void>(() => {})

describe('workers', () => {
  test('what finds no worker is refused; a part is kept for users', () => {
    const workers = workersOf(10, 20)
    assert.deepEqual([workers.limit, workers.reserved], [8, 2])
    for (let count = 0; count < 8; count++) workers.start('work', never, { useReserved: false })
    assert.throws(() => workers.start('heartbeat', never, { useReserved: false }), { name: 'NoFreeConductorWorker' })
    const user = workers.reserve()
    workers.start('work', never)
    assert.throws(() => workers.reserve(), { name: 'NoFreeConductorWorker', code: 503 })
    user.free()
    user.free()
    assert.equal(workers.busy, 9)
    workers.reserve()
  })

  test('a worker is free again when its work has ended, well or not; the failure is logged', async () => {
    const told: string[] = []
    const workers = workersOf(10, 0, { ...silentLogger, error: (line) => void told.push(line) })
    await workers.reserve().run('one', () => Promise.resolve())
    await workers.reserve().run('other', () => Promise.reject(new Error('no luck')))
    assert.equal(workers.busy, 0)
    assert.match(told.join(), /other failed: Error: no luck/)
  })

  test('idle waits for all, also for what they start, and no longer than it is let', async () => {
    const workers = workersOf(10, 0)
    const { promise, resolve } = Promise.withResolvers<void>()
    workers.start('one', async () => {
      await promise
      workers.start('another', () => Promise.resolve())
    })
    assert.equal(await workers.idle(AbortSignal.timeout(10)), false)
    resolve()
    assert.equal(await workers.idle(AbortSignal.timeout(1000)), true)
  })

  test('a pool too small for the periodic work stops the start', () => {
    assert.throws(() => new Workers(testConfig({ conductor: { workers_pool_size: 20 } }), silentLogger), {
      name: 'IncorrectConfiguration',
      message: /workers_pool_size/,
    })
  })

  test('a closed pool refuses everything', () => {
    const workers = workersOf(10, 0)
    workers.close()
    assert.throws(() => workers.reserve(), { name: 'NoFreeConductorWorker', message: /stopping/ })
  })
})
