import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { driversNamed } from './drivers.ts'
import { events, type EventName, type NotificationLevel, type NotificationStatus } from './events.ts'
import { buildPayload, Notifier, type NotificationMessage } from './notifier.ts'
import { payloads, type PayloadName } from './payloads.ts'

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as JsonDict
const facts = read('../../test/facts/notifications.json') as {
  events: { event_type: string; level: string; publisher: string; payload: PayloadName; payload_version: string }[]
}
const recorded = (
  read('../../test/wire/rpc/notifications-frames.json') as {
    frames: { event_type: string; frame: { body: JsonDict; routing_key: string } }[]
  }
).frames

const messageOf = (frame: { body: JsonDict }) =>
  frame.body['oslo.message']['<JSON string of>'] as NotificationMessage & JsonDict

function collect(level: NotificationLevel | null) {
  const sent: { topic: string; message: NotificationMessage }[] = []
  const notifier = new Notifier({
    level,
    topics: ['versioned'],
    drivers: [{ publish: (topic, message) => sent.push({ topic, message }) }],
    service: 'ironic-conductor',
    host: 'here',
    now: () => new Date('2026-12-01T05:55:42.255Z'),
    log: silentLogger,
  })
  return { sent, notifier }
}

describe('the table of events', () => {
  it('is what was measured', () => {
    const ours = Object.entries(events).flatMap(([name, spec]) =>
      (spec.statuses as readonly NotificationStatus[]).map((status) => ({
        event_type: `baremetal.${name}.${status}`,
        level: status === 'error' ? 'error' : 'info',
        publisher: `${spec.publisher}.<host>`,
        payload: spec.payload,
        payload_version: payloads[spec.payload].version,
      })),
    )
    const theirs = facts.events.map(({ event_type, level, publisher, payload, payload_version }) => ({
      event_type,
      level,
      publisher,
      payload,
      payload_version,
    }))
    const byType = (a: { event_type: string }, b: { event_type: string }) => a.event_type.localeCompare(b.event_type)
    assert.deepEqual(ours.toSorted(byType), theirs.toSorted(byType))
  })
})

describe('payloads, as recorded', () => {
  for (const { event_type: type, frame } of recorded)
    it(type, () => {
      const message = messageOf(frame)
      const name = message.payload['ironic_object.name'] as PayloadName
      const data = message.payload['ironic_object.data'] as JsonDict
      const [, object, action, status] = type.split('.')
      const { sent, notifier } = collect('debug')
      notifier.emit({
        context: { request_id: 'req-1' },
        event: `${object}.${action}` as EventName,
        status: status as NotificationStatus,
        source: data,
      })
      const [own] = sent
      assert.ok(own)
      assert.equal(own.message.payload['ironic_object.name'], name)
      assert.deepEqual(own.message.payload, message.payload)
      assert.equal(own.message.priority, message.priority)
      assert.deepEqual(
        Object.keys(own.message).toSorted(),
        Object.keys(message)
          .filter((key) => !key.startsWith('_'))
          .toSorted(),
      )
      assert.equal(own.topic.split('.').at(-1), frame.routing_key.split('.').at(-1))
      assert.match(own.message.timestamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/)
    })
})

describe('what leaves', () => {
  it('has no secret of driver_info, instance_info or driver_internal_info', () => {
    const payload = buildPayload('NodeSetProvisionStatePayload', {
      provision_state: 'active',
      driver_internal_info: { agent_secret_token: 'hush', agent_url: 'https://a' },
      instance_info: { image_url: 'http://user:hush@x/y', rescue_password: 'hush', root_gb: 1 },
      traits: [{ trait: 'CUSTOM_A' }],
    })
    assert.ok(!JSON.stringify(payload).includes('hush'))
    assert.equal(payload['ironic_object.data'].instance_info.root_gb, 1)
    assert.deepEqual(payload['ironic_object.data'].traits, ['CUSTOM_A'])
  })
  it('hides sensitive rules and the properties of volume targets', () => {
    const rule = { sensitive: true, actions: [{ op: 'fail', args: { msg: 'hush' } }], conditions: [] }
    assert.ok(!JSON.stringify(buildPayload('InspectionRuleCRUDPayload', rule)).includes('hush'))
    assert.ok(
      !JSON.stringify(buildPayload('VolumeTargetCRUDPayload', { properties: { auth: 'hush' } })).includes('hush'),
    )
  })
  it('writes times without fractions', () => {
    const payload = buildPayload('ChassisCRUDPayload', { created_at: new Date('2026-12-01T05:55:38.750Z') })
    assert.equal(payload['ironic_object.data'].created_at, '2026-12-01T05:55:38Z')
  })
})

describe('notification_level', () => {
  const statuses = (level: NotificationLevel | null) => {
    const { sent, notifier } = collect(level)
    for (const status of ['start', 'error'] as const)
      notifier.emit({ context: { request_id: 'r' }, event: 'chassis.create', status, source: {} })
    return sent.map(({ message }) => message.event_type.split('.').at(-1))
  }
  it('lets through what is at or above it', () => {
    assert.deepEqual(statuses('debug'), ['start', 'error'])
    assert.deepEqual(statuses('error'), ['error'])
    assert.deepEqual(statuses('critical'), [])
  })
  it('unset sends nothing', () => assert.deepEqual(statuses(null), []))
})

describe('drivers', () => {
  it('an unknown name is refused with the names that exist', () => {
    assert.throws(
      () => driversNamed(['carrier-pigeon'], silentLogger, () => ({ publish() {} })),
      /log, noop, messaging/,
    )
  })
})
