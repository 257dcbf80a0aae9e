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

/** What `notification_level` and `[oslo_messaging_notifications]` ask for. @throws ConfigInvalid for a driver that is not known */
export async function configuredNotifier(
  config: Config,
  service: EventSpec['publisher'],
  host: string,
  log: Logger,
  now: () => Date,
): Promise<Notifier> {
  const { driver: names, transport_url: ownUrl } = config.oslo_messaging_notifications
  const { notification_level: level, versioned_notifications_topics: topics, transport_url: url } = config.DEFAULT
  const line = log.named('ironic.notifications')
  const needsBroker = level !== null && names.some((name) => name === 'messaging' || name === 'messagingv2')
  const options = needsBroker ? await brokerOptions(config, service, log, ownUrl ?? url) : undefined
  let drivers: NotificationDriver[]
  try {
    drivers = driversNamed(level === null ? [] : names, log, (format) => {
      if (options === undefined) throw new Error('there is no message broker')
      return brokerDriver(new Publisher(options.broker, options.rabbit), format === 2, line)
    })
  } catch (cause) {
    throw new ConfigInvalid((cause as Error).message, { cause })
  }
  return new Notifier({ level, topics, drivers, service, host, now, log: line })
}
