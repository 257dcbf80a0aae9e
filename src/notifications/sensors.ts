import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../domain/context.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import type { NotificationDriver } from './notifier.ts'

/** Sends what sensors say: plain oslo.messaging notifications, not versioned ones. */
export type SensorSender = (context: RequestContext, eventType: string, body: JsonDict) => void

export interface SensorSenderOptions {
  readonly drivers: readonly NotificationDriver[]
  /** `[oslo_messaging_notifications]topics` */
  readonly topics: readonly string[]
  readonly host: string
  readonly now: () => Date
}

/** `2026-12-01 05:55:42.255000`, UTC */
const timestamp = (now: Date) => `${now.toISOString().replace('T', ' ').replace('Z', '')}000`

/** @returns undefined when nobody would hear it */
export function sensorSender({ drivers, topics, host, now }: SensorSenderOptions): SensorSender | undefined {
  if (drivers.length === 0) return undefined
  return (context, eventType, payload) => {
    const message = {
      message_id: randomUUID(),
      publisher_id: `ironic-conductor.${host}`,
      event_type: eventType,
      priority: 'INFO',
      payload,
      timestamp: timestamp(now()),
    }
    for (const driver of drivers) for (const topic of topics) driver.publish(`${topic}.info`, message, context)
  }
}
