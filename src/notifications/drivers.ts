import type { Logger } from '../lib/oslo-log/logger.ts'
import type { NotificationDriver } from './notifier.ts'

/** `driver = log`: one line a notification, on the logger that is named after the event. */
export function logDriver(log: Logger): NotificationDriver {
  return {
    publish(_topic, message) {
      const line = log.named(`oslo.messaging.notification.${message.event_type}`)
      const text = JSON.stringify(message)
      if (message.priority === 'ERROR' || message.priority === 'CRITICAL') line.error(text)
      else if (message.priority === 'DEBUG') line.debug(text)
      else line.info(text)
    },
  }
}

/** `driver = noop` */
export const noopDriver: NotificationDriver = { publish() {} }

/**
 * The drivers that `[oslo_messaging_notifications]driver` names.
 * @param amqp makes the driver that sends to the message broker; called once when it is named
 * @throws Error for a name that is not known
 */
export function driversNamed(
  names: readonly string[],
  log: Logger,
  amqp: (format: 1 | 2) => NotificationDriver,
): NotificationDriver[] {
  const makers: Readonly<Record<string, () => NotificationDriver>> = {
    log: () => logDriver(log),
    noop: () => noopDriver,
    messaging: () => amqp(1),
    messagingv2: () => amqp(2),
  }
  return names.map((name) => {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined
    if (make === undefined)
      throw new Error(
        `[oslo_messaging_notifications]driver: "${name}" is not known; there are ${Object.keys(makers).join(', ')}.`,
      )
    return make()
  })
}
