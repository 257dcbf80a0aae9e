import type { Config } from '../../config/index.ts'
import { deleteNodeHistoryByIds, historyToPurge } from '../../db/node-history.ts'
import type { PeriodicTask } from './scheduler.ts'

/** Keeps `[conductor]node_history_max_entries` entries of each node, and all that are young enough. */
export function historyCleaning(config: Config): PeriodicTask {
  const {
    node_history_cleanup_interval: interval,
    node_history_cleanup_batch_count: batch,
    node_history_max_entries: maxEntries,
    node_history_minimum_days: minimumDays,
  } = config.conductor
  return {
    name: 'node history cleaning',
    interval: batch > 0 && maxEntries !== 0 ? interval : 0,
    async run(parts) {
      const surplus = await historyToPurge(parts.db, parts.conductorId, { maxEntries, minimumDays })
      let removed = 0
      for (const ids of surplus.values()) {
        if (removed >= batch) {
          parts.log.warning(`More than ${batch} history entries are too many; the rest goes next time`)
          return
        }
        await deleteNodeHistoryByIds(parts.db, ids)
        removed += ids.length
      }
    },
  }
}
