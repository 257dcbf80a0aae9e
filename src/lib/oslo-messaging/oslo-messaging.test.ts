import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  decodeEnvelope,
  decodeReply,
  decodeRequest,
  encodeEnvelope,
  encodeReply,
  encodeRequest,
  MalformedMessage,
} from './message.ts'
import {
  controlExchange,
  fanoutExchange,
  fanoutQueue,
  replyQueue,
  stockRabbitOptions,
  topicQueue,
  type QueueDeclaration,
  type RabbitOptions,
} from './topology.ts'
import { parseTransportUrl } from './transport-url.ts'

type Frame = Record<string, Record<string, unknown>>
const frames = JSON.parse(
  readFileSync(new URL('../../../test/wire/rpc/amqp-frames.json', import.meta.url), 'utf8'),
) as {
  declarations_by_option: { options: string[]; declares: Frame[] }[]
  raw_bodies: Record<string, unknown>
}

/** The options that a recording was made with. */
function optionsOf(lines: string[]): RabbitOptions {
  const set = Object.fromEntries(lines.map((line) => line.split(' = ') as [string, string]))
  const flag = (name: string) => set[name] === 'true'
  const number = (name: string, stock: number) => (name in set ? Number(set[name]) : stock)
  return {
    ...stockRabbitOptions,
    durableQueues: flag('amqp_durable_queues'),
    autoDelete: flag('amqp_auto_delete'),
    quorumQueue: flag('rabbit_quorum_queue'),
    transientQuorumQueue: flag('rabbit_transient_quorum_queue'),
    quorumDeliveryLimit: number('rabbit_quorum_delivery_limit', 0),
    quorumMaxMemoryLength: number('rabbit_quorum_max_memory_length', 0),
    quorumMaxMemoryBytes: number('rabbit_quorum_max_memory_bytes', 0),
    transientQueuesTtl: number('rabbit_transient_queues_ttl', 1800),
    haQueues: flag('rabbit_ha_queues'),
    streamFanout: flag('rabbit_stream_fanout'),
  }
}

describe('declarations, as recorded', () => {
  const topic = 'ironic.conductor_manager'
  for (const { options: lines, declares } of frames.declarations_by_option)
    it(lines.join(', '), () => {
      const options = optionsOf(lines)
      const wanted = new Map<string, unknown>()
      for (const frame of declares) {
        const queue = frame['queue.declare']
        const exchange = frame['exchange.declare']
        if (queue !== undefined)
          wanted.set(String(queue['queue']), {
            durable: queue['durable'],
            autoDelete: queue['auto_delete'],
            arguments: queue['arguments'],
          })
        if (exchange !== undefined)
          wanted.set(String(exchange['exchange']), {
            type: exchange['type'],
            durable: exchange['durable'],
            autoDelete: exchange['auto_delete'],
          })
      }
      const queueShape = ({ durable, autoDelete, arguments: args }: QueueDeclaration) => ({
        durable,
        autoDelete,
        arguments: args,
      })
      assert.ok(wanted.size >= 4)
      for (const [name, shape] of wanted) {
        if (name === 'ironic') {
          const { exchange: _name, ...own } = controlExchange(options)
          assert.deepEqual(own, shape, name)
        } else if (name === `${topic}_fanout` && 'type' in (shape as object)) {
          const { exchange: _name, ...own } = fanoutExchange(topic, options)
          assert.deepEqual(own, shape, name)
        } else if (name.startsWith('reply_')) assert.deepEqual(queueShape(replyQueue('x', options)), shape, name)
        else if (name.includes('_fanout')) assert.deepEqual(queueShape(fanoutQueue(topic, 'x', options)), shape, name)
        else assert.deepEqual(queueShape(topicQueue(name, options)), shape, name)
      }
    })
})

describe('messages', () => {
  const request = {
    method: 'get_boot_device',
    args: { node_id: 'x' },
    version: '1.17',
    context: { user: 'u', roles: ['admin'] },
  }
  it('a call goes through the envelope and back', () => {
    const reply = { messageId: 'm', queue: 'reply_q', monitorSeconds: null }
    const decoded = decodeRequest(decodeEnvelope(encodeEnvelope(encodeRequest({ ...request, reply }))))
    assert.deepEqual({ ...decoded, uniqueId: null }, { ...request, reply, namespace: null, uniqueId: null })
    assert.match(decoded.uniqueId ?? '', /^[0-9a-f]{32}$/)
  })
  it('a cast has no keys of a call', () => {
    assert.deepEqual(
      Object.keys(encodeRequest({ ...request, reply: null })).filter((key) => /^_(msg_id|reply_q|timeout)$/.test(key)),
      [],
    )
  })
  it('a reply has its five keys', () => {
    const message = encodeReply({ messageId: 'm', result: undefined, failure: null, ending: true })
    assert.deepEqual(Object.keys(message).toSorted(), ['_msg_id', '_unique_id', 'ending', 'failure', 'result'])
    assert.equal(message['result'], null)
  })
  it('a failure keeps class, text and code, and sends no trace', () => {
    const failure = { class: 'NodeLocked', module: 'ironic.common.exception', message: 'locked', code: 409 }
    const message = encodeReply({ messageId: 'm', result: null, failure, ending: true })
    assert.deepEqual(decodeReply(message).failure, failure)
    assert.deepEqual((JSON.parse(String(message['failure'])) as { tb: string[] }).tb, [])
  })
  it('the trace of a Python peer does not reach the user', () => {
    const failure = JSON.stringify({
      class: 'NodeLocked',
      module: 'ironic.common.exception',
      message: 'locked\nTraceback (most recent call last):\n  File',
      kwargs: { code: '409' },
      tb: [],
    })
    assert.deepEqual(decodeReply({ _msg_id: 'm', failure, ending: true }).failure, {
      class: 'NodeLocked',
      module: 'ironic.common.exception',
      message: 'locked',
      code: 409,
    })
  })
  for (const [what, body] of Object.entries({
    'no JSON': 'x',
    'another envelope': '{"oslo.version": "2.1", "oslo.message": "{}"}',
    'no text inside': '{"oslo.version": "2.0", "oslo.message": {}}',
  }))
    it(`${what} is refused`, () => assert.throws(() => decodeEnvelope(Buffer.from(body)), MalformedMessage))
  it('a message without an envelope is taken', () =>
    assert.deepEqual(decodeEnvelope(Buffer.from('{"method": "x"}')), { method: 'x' }))
})

describe('transport_url', () => {
  it('names several hosts, a virtual host and options', () => {
    assert.deepEqual(parseTransportUrl('rabbit://us%40er:p%2Fw@h1:5673,u2:p2@[::1]/v%2Fh?ssl=1'), {
      transport: 'rabbit',
      hosts: [
        { host: 'h1', port: 5673, username: 'us@er', password: 'p/w' },
        { host: '::1', port: 5672, username: 'u2', password: 'p2' },
      ],
      virtualHost: 'v/h',
      query: { ssl: '1' },
    })
  })
  it('has stock values', () => {
    assert.deepEqual(parseTransportUrl('rabbit://').hosts, [
      { host: 'localhost', port: 5672, username: 'guest', password: 'guest' },
    ])
  })
  it('a broker of another kind is refused without its password', () => {
    assert.throws(
      () => parseTransportUrl('kafka://u:hush@h/'),
      (error: Error) => /kafka/.test(error.message) && !error.message.includes('hush'),
    )
  })
})
