import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { driversNamed, noopDriver } from '../notifications/drivers.ts'
import { type NotificationDriver, Notifier, type NotifierOptions } from '../notifications/notifier.ts'
import { CommandFailure } from './run-command.ts'

/** The sender of notifications of one service, as DEFAULT and oslo_messaging_notifications say. */
export function openNotifier(
  config: Config,
  parts: { log: Logger; clock: Clock; host: string; service: NotifierOptions['service'] },
): Notifier {
  const { notification_level: level, versioned_notifications_topics: topics } = config.DEFAULT
  const { driver: names } = config.oslo_messaging_notifications
  const broker = (): NotificationDriver => {
    if (level === null) return noopDriver // nothing would be sent
    throw new CommandFailure(
      '[oslo_messaging_notifications]driver names the message broker, to which this release cannot send notifications yet: set log or noop.',
    )
  }
  return new Notifier({
    level,
    topics,
    drivers: driversNamed(names, parts.log, broker),
    service: parts.service,
    host: parts.host,
    now: () => parts.clock.now(),
    log: parts.log,
  })
}
