import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateNode } from '../../db/nodes.ts'
import { FakeManagement } from '../../drivers/fake/management.ts'
import { interfaceClasses } from '../../drivers/interface-classes.ts'
import type { Task } from '../../drivers/task.ts'
import { sensorSender } from '../../notifications/sensors.ts'
import type { NotificationMessage } from '../../notifications/notifier.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { createTestNode, startTestConductor } from '../for-tests.ts'
import { sensorData } from './sensor-data.ts'

const interfaces = {
  ...interfaceClasses,
  management: {
    ...interfaceClasses.management,
    fake: class extends FakeManagement {
      override getSensorsData({ node }: Task): Promise<JsonDict> {
        if (node.name === 'dumb') return Promise.reject(new Error('no answer'))
        return Promise.resolve({ Temperature: { cpu: { 'Sensor Reading': '42' } }, Fan: { one: {} } })
      }
    },
  },
}

test('sensors of active nodes are sent, of the kinds asked for; one that does not answer keeps no other', async () => {
  const sent: [string, NotificationMessage][] = []
  const sendSensors = sensorSender({
    drivers: [{ publish: (topic, message) => void sent.push([topic, message]) }],
    topics: ['notifications'],
    host: 'test-host',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
  })!
  await using conductor = await startTestConductor({
    interfaces,
    more: { sendSensors },
    config: { sensor_data: { send_sensor_data: true, data_types: ['temperature'] } },
  })
  for (const [name, provision_state] of [
    ['dumb', 'active'],
    ['talks', 'active'],
    ['idle', 'available'],
  ] as const) {
    const { id } = await createTestNode(conductor, { name })
    await updateNode(conductor.db, id, { provision_state })
  }
  const { parts } = conductor.running
  await sensorData(parts.config).run(parts)
  assert.equal(sent.length, 1)
  const [topic, { event_type, publisher_id, priority, timestamp, payload }] = sent[0]!
  assert.deepEqual(
    [topic, event_type, publisher_id, priority, timestamp],
    [
      'notifications.info',
      'hardware.fake-hardware.metrics',
      'ironic-conductor.test-host',
      'INFO',
      '2026-01-02 03:04:05.678000',
    ],
  )
  assert.deepEqual(Object.keys(payload), [
    'message_id',
    'instance_uuid',
    'node_uuid',
    'timestamp',
    'node_name',
    'event_type',
    'payload',
  ])
  assert.equal(payload['node_name'], 'talks')
  assert.deepEqual(payload['payload'], { Temperature: { cpu: { 'Sensor Reading': '42' } } })
})
