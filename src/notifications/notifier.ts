import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../domain/context.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { copy } from '../lib/json-patch/apply.ts'
import { maskMembers } from '../lib/secrets/mask.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { events, type EventName, type EventSpec, type NotificationLevel, type NotificationStatus } from './events.ts'
import { payloads, type PayloadName } from './payloads.ts'

/** Lowest first. */
const levels: readonly NotificationLevel[] = ['debug', 'info', 'warning', 'error', 'critical']

/** What goes to the consumer: oslo.messaging's notification, without the envelope of the transport. */
export interface NotificationMessage {
  readonly message_id: string
  readonly publisher_id: string
  readonly event_type: string
  readonly priority: string
  readonly payload: JsonDict
  readonly timestamp: string
}

/** A way out for notifications; `publish` takes the message and never throws. */
export interface NotificationDriver {
  publish(topic: string, message: NotificationMessage, context: RequestContext): void
  close?(): Promise<void>
}

export interface NotifierOptions {
  /** `[DEFAULT]notification_level`; null: nothing is sent */
  readonly level: NotificationLevel | null
  readonly topics: readonly string[]
  readonly drivers: readonly NotificationDriver[]
  readonly service: EventSpec['publisher']
  readonly host: string
  readonly now: () => Date
  readonly log: Logger
  /** further listeners (metrics, the event stream): they get every event, whatever the level */
  readonly listeners?: readonly ((message: NotificationMessage) => void)[]
}

/** Something that happened: `baremetal.<object>.<action>.<status>`. */
export interface Notification {
  readonly context: RequestContext
  readonly event: EventName
  readonly status: NotificationStatus
  /** the object, as data with wire names */
  readonly source: Readonly<Record<string, unknown>>
  /** what the payload says beyond the object: `to_power`, `node_uuid`, `event` … */
  readonly extra?: Readonly<Record<string, unknown>>
}

const redacted = { redacted_contents: 'not shown in notifications' }
const maskedFields: readonly string[] = ['driver_info', 'instance_info', 'driver_internal_info']

/** The value as it may leave: secrets as stars, image URLs (they may hold credentials) always. */
function safeValue(payload: PayloadName, field: string, value: unknown, source: Notification['source']): unknown {
  if (payload === 'InspectionRuleCRUDPayload' && (field === 'actions' || field === 'conditions') && source.sensitive)
    return redacted
  if (payload === 'VolumeTargetCRUDPayload' && field === 'properties')
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? redacted : value
  if (!maskedFields.includes(field) || typeof value !== 'object' || value === null) return value
  const masked = maskMembers(value as JsonDict, '******')
  return field === 'instance_info' && 'image_url' in masked ? { ...masked, image_url: '******' } : masked
}

const wireValue = (value: unknown): unknown =>
  value instanceof Date ? `${value.toISOString().slice(0, 19)}Z` : (value ?? null)

/** Traits come as rows, as objects or as names; the payload has names. */
const traitNames = (traits: unknown): unknown =>
  Array.isArray(traits) ? traits.map((trait) => (typeof trait === 'string' ? trait : (trait as JsonDict).trait)) : []

/** The payload as a versioned object's primitive; without `changes`, which consumers never had. */
export function buildPayload(
  name: PayloadName,
  source: Notification['source'],
  extra: Notification['extra'] = {},
): JsonDict {
  const { version, fields } = payloads[name]
  const data: JsonDict = {}
  for (const field of fields) {
    const value: unknown = field in extra ? extra[field] : source[field]
    const isNodeTraits = field === 'traits' && 'provision_state' in source
    data[field] = isNodeTraits ? traitNames(value) : wireValue(safeValue(name, field, value, source))
  }
  return {
    'ironic_object.name': name,
    'ironic_object.namespace': 'ironic',
    'ironic_object.version': version,
    'ironic_object.data': data,
  }
}

/** `2026-12-01 05:55:42.255051`, UTC */
const timestamp = (now: Date) => `${now.toISOString().replace('T', ' ').replace('Z', '')}000`

/** Sends notifications about what this service does. Building one never fails the work that it tells of. */
export class Notifier {
  private readonly options: NotifierOptions
  private readonly isOn: boolean
  constructor(options: NotifierOptions) {
    this.options = options
    this.isOn = (options.level !== null && options.drivers.length > 0) || (options.listeners ?? []).length > 0
  }

  /** Takes what it needs of the source before it returns. */
  emit({ context, event, status, source, extra }: Notification): void {
    if (!this.isOn) return
    const level: NotificationLevel = status === 'error' ? 'error' : 'info'
    try {
      const message: NotificationMessage = {
        message_id: randomUUID(),
        publisher_id: `${this.options.service}.${this.options.host}`,
        event_type: `baremetal.${event}.${status}`,
        priority: level.toUpperCase(),
        payload: copy(buildPayload(events[event].payload, source, extra)),
        timestamp: timestamp(this.options.now()),
      }
      this.send(message, level, context)
    } catch (error) {
      this.options.log.error(`The notification baremetal.${event}.${status} was not sent`, { error })
    }
  }

  private send(message: NotificationMessage, level: NotificationLevel, context: RequestContext): void {
    for (const listen of this.options.listeners ?? []) listen(message)
    if (this.options.level === null || levels.indexOf(level) < levels.indexOf(this.options.level)) return
    for (const driver of this.options.drivers)
      for (const topic of this.options.topics) driver.publish(`${topic}.${level}`, message, context)
  }

  async close(): Promise<void> {
    await Promise.all(this.options.drivers.map((driver) => Promise.resolve(driver.close?.())))
  }
}

/** Nobody listens. */
export const silentNotifier = (log: Logger): Notifier =>
  new Notifier({
    level: null,
    topics: [],
    drivers: [],
    service: 'ironic-conductor',
    host: '',
    now: () => new Date(),
    log,
  })
