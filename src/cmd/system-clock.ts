import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../domain/clock.ts'

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error
    }
  },
}
