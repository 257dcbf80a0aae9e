import { randomUUID } from 'node:crypto'
import type { AuditSink } from '../../api/audit.ts'
import type { Config } from '../../config/index.ts'
import { adminContext } from '../../domain/context.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { notificationDrivers } from './notifications.ts'

export interface OpenAuditSink extends AsyncDisposable {
  readonly sink: AuditSink
}

/**
 * Where audit events go: to the log, or by the notification drivers of `[audit_middleware_notifications]`, else those of
 * `[oslo_messaging_notifications]`.
 * @throws ConfigInvalid for a driver that is not known
 */
export async function openAuditSink(config: Config, log: Logger, now: () => Date): Promise<OpenAuditSink> {
  const line = log.named('ironic.audit')
  const own = config.audit_middleware_notifications
  if (!config.audit.enabled || !own.use_oslo_messaging) {
    return {
      sink: (eventType, event) => line.info(`Event type: ${eventType}, Payload: ${JSON.stringify(event)}`),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }
  const { driver, topics } = config.oslo_messaging_notifications
  const names = own.driver === null ? driver : [own.driver]
  const drivers = await notificationDrivers(config, names, { service: 'ironic-api', log: line, url: own.transport_url })
  return {
    sink: (event_type, payload) => {
      const message = {
        message_id: randomUUID(),
        publisher_id: 'ironic-api',
        event_type,
        priority: 'INFO',
        payload,
        timestamp: `${now().toISOString().replace('T', ' ').replace('Z', '')}000`,
      }
      const context = adminContext(`req-${randomUUID()}`)
      for (const way of drivers)
        for (const topic of own.topics ?? topics) way.publish(`${topic}.info`, message, context)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(drivers.map(async (way) => await way.close?.()))
    },
  }
}
