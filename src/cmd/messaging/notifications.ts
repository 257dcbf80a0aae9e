import type { Config } from '../../config/index.ts'
import { ConfigInvalid } from '../../errors/index.ts'
import { newId } from '../../lib/oslo-messaging/message.ts'
import { Publisher } from '../../lib/oslo-messaging/publisher.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { driversNamed } from '../../notifications/drivers.ts'
import type { EventSpec } from '../../notifications/events.ts'
import { Notifier, type NotificationDriver } from '../../notifications/notifier.ts'
import { contextToWire } from '../../rpc/context-wire.ts'
import { brokerOptions } from './broker-options.ts'

/** How long one message waits for a broker that is away. */
const patienceMs = 60_000
/** Messages under way at most; what comes beyond is dropped and told in the log. */
const mostUnderWay = 10_000

/** `messagingv2`: to the broker, in the order they happened. A failure is logged and nothing else. */
function brokerDriver(publisher: Publisher, enveloped: boolean, log: Logger): NotificationDriver {
  let underWay = 0
  return {
    publish(topic, message, context) {
      if (underWay >= mostUnderWay) {
        log.error(`${mostUnderWay} notifications wait for the message broker; ${message.event_type} is dropped`)
        return
      }
      underWay++
      const who = Object.entries({ ...contextToWire(context), auth_token: null, auth_token_info: null })
      const full = {
        ...message,
        _unique_id: newId(),
        ...Object.fromEntries(who.map(([key, value]) => [`_context_${key}`, value])),
      }
      publisher
        .notify(topic, full, patienceMs, enveloped)
        .catch((error: unknown) => log.error(`The notification ${message.event_type} could not be sent`, { error }))
        .finally(() => underWay--)
    },
    close: () => publisher[Symbol.asyncDispose](),
  }
}

/**
 * The drivers of these names (`log`, `noop`, `messaging`, `messagingv2`).
 * @param url the broker, where it is not the one of RPC
 * @throws ConfigInvalid for a name that is not known
 */
export async function notificationDrivers(
  config: Config,
  names: readonly string[],
  { service, log, url }: { service: string; log: Logger; url: string | null },
): Promise<NotificationDriver[]> {
  const needsBroker = names.some((name) => name === 'messaging' || name === 'messagingv2')
  const place = url ?? config.oslo_messaging_notifications.transport_url ?? config.DEFAULT.transport_url
  const options = needsBroker ? await brokerOptions(config, service, log, place) : undefined
  try {
    return driversNamed(names, log, (format) => {
      if (options === undefined) throw new Error('there is no message broker')
      return brokerDriver(new Publisher(options.broker, options.rabbit), format === 2, log)
    })
  } catch (cause) {
    throw new ConfigInvalid((cause as Error).message, { cause })
  }
}

/** What `notification_level` and `[oslo_messaging_notifications]` ask for. @throws ConfigInvalid for a driver that is not known */
export async function configuredNotifier(
  config: Config,
  service: EventSpec['publisher'],
  host: string,
  log: Logger,
  now: () => Date,
): Promise<Notifier> {
  const { notification_level: level, versioned_notifications_topics: topics } = config.DEFAULT
  const line = log.named('ironic.notifications')
  const names = level === null ? [] : config.oslo_messaging_notifications.driver
  const drivers = await notificationDrivers(config, names, { service, log: line, url: null })
  return new Notifier({ level, topics, drivers, service, host, now, log: line })
}
