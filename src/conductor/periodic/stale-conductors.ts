import type { Config } from '../../config/index.ts'
import { deleteConductor, findConductor, offlineConductors } from '../../db/conductors.ts'
import { ConductorNotFound } from '../../errors/conductor.ts'
import type { PeriodicTask } from './scheduler.ts'

/** Entries of conductors that have been gone for long are removed, with all that refers to them. */
export function staleConductors(config: Config): PeriodicTask {
  const {
    conductor_cleanup_interval: interval,
    conductor_cleanup_timeout: timeout,
    conductor_cleanup_batch_size: batch,
    heartbeat_timeout: heartbeat,
  } = config.conductor
  return {
    name: 'stale conductors',
    interval,
    async run({ db, log, clock, host }) {
      if (heartbeat <= 0 || timeout < 3 * heartbeat) {
        log.warning(
          `Stale conductors are not removed: [conductor]conductor_cleanup_timeout (${timeout}) must be at least three times heartbeat_timeout (${heartbeat})`,
        )
        return
      }
      const limit = clock.now().getTime() - timeout * 1000
      let removed = 0
      for (const { hostname } of await offlineConductors(db, heartbeat)) {
        if (removed >= batch) return
        if (hostname === host) continue
        const conductor = await findConductor(db, hostname)
        if (conductor === undefined || (conductor.updated_at ?? conductor.created_at ?? new Date()).getTime() >= limit)
          continue
        try {
          await deleteConductor(db, hostname)
        } catch (error) {
          if (error instanceof ConductorNotFound) continue
          throw error
        }
        removed++
        log.info(`The entry of conductor ${hostname} is removed: it has been gone for long`)
      }
    },
  }
}
