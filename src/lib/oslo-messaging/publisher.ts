import type { ConfirmChannel, Options } from 'amqplib'
import { Broker, type BrokerOptions } from './broker.ts'
import { decodeEnvelope, encodeEnvelope, type Message } from './message.ts'
import {
  controlExchange,
  fanoutExchange,
  topicQueue,
  type ExchangeDeclaration,
  type RabbitOptions,
} from './topology.ts'

/** A message that no queue took, though it had to be taken. */
export class Unroutable extends Error {
  override readonly name = 'Unroutable'
}

const properties: Options.Publish = {
  contentType: 'application/json',
  contentEncoding: 'utf-8',
  headers: {},
  deliveryMode: 2,
  priority: 0,
}

export const declareExchange = (
  channel: ConfirmChannel,
  { exchange, type, durable, autoDelete }: ExchangeDeclaration,
) => channel.assertExchange(exchange, type, { durable, autoDelete })

/** Publishes with confirms. What the exchange needs is declared once per channel, before the first message. */
export class Publisher implements AsyncDisposable {
  private readonly broker: Broker
  private readonly options: RabbitOptions
  /** what was declared on the present channel */
  private declared = new Map<string, Promise<unknown>>()
  /** messages with `mandatory` under way, by their `_unique_id` */
  private readonly returned = new Map<string, () => void>()

  constructor(broker: BrokerOptions, options: RabbitOptions) {
    this.options = options
    this.broker = new Broker(broker, 'publishing', (channel) => {
      this.declared = new Map()
      channel.on('return', (message: { content: Buffer }) => this.onReturn(message.content))
      return Promise.resolve()
    })
  }

  private onReturn(content: Buffer): void {
    const id = decodeEnvelope(content)['_unique_id']
    if (typeof id === 'string') this.returned.get(id)?.()
  }

  private once(key: string, declare: () => Promise<unknown>): Promise<unknown> {
    let done = this.declared.get(key)
    if (done === undefined) this.declared.set(key, (done = declare()))
    return done
  }

  /**
   * To one topic, or one host of it (`topic.host`).
   * @param expirationMs after that time unread, the broker drops it
   * @throws BrokerUnreachable, or the broker's own refusal
   */
  async toTopic(
    routingKey: string,
    message: Message,
    options: { timeoutMs: number; expirationMs?: number },
  ): Promise<void> {
    const channel = await this.broker.ready(options.timeoutMs)
    const exchange = controlExchange(this.options)
    await this.once(exchange.exchange, () => declareExchange(channel, exchange))
    const expiration =
      options.expirationMs === undefined ? {} : { expiration: String(Math.floor(options.expirationMs)) }
    await confirmed(channel, exchange.exchange, routingKey, message, expiration)
  }

  /** To every server of the topic. */
  async toAll(topic: string, message: Message, timeoutMs: number): Promise<void> {
    const channel = await this.broker.ready(timeoutMs)
    const exchange = fanoutExchange(topic, this.options)
    await this.once(exchange.exchange, () => declareExchange(channel, exchange))
    await confirmed(channel, exchange.exchange, '', message, {})
  }

  /** To the queue of a caller. @throws Unroutable when it is gone */
  async toReplyQueue(queue: string, message: Message, timeoutMs: number): Promise<void> {
    const channel = await this.broker.ready(timeoutMs)
    const id = String(message['_unique_id'])
    let isReturned = false
    this.returned.set(id, () => (isReturned = true))
    try {
      // a returned message comes back before its confirm
      await confirmed(channel, '', queue, message, { mandatory: true })
      if (isReturned) throw new Unroutable(`the reply queue ${queue} is gone`)
    } finally {
      this.returned.delete(id)
    }
  }

  /**
   * A notification: its queue is declared here, so that it waits for a consumer.
   * @param topic with its level, `versioned.info`
   * @param enveloped false: the bare message, format 1.0
   */
  async notify(topic: string, message: Message, timeoutMs: number, enveloped = true): Promise<void> {
    const channel = await this.broker.ready(timeoutMs)
    const exchange = controlExchange(this.options)
    await this.once(exchange.exchange, () => declareExchange(channel, exchange))
    await this.once(`queue ${topic}`, async () => {
      const { queue, durable, autoDelete, arguments: args } = topicQueue(topic, this.options)
      await channel.assertQueue(queue, { durable, autoDelete, arguments: args })
      await channel.bindQueue(queue, exchange.exchange, queue)
    })
    await confirmed(channel, exchange.exchange, topic, message, {}, enveloped)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.broker[Symbol.asyncDispose]()
  }
}

function confirmed(
  channel: ConfirmChannel,
  exchange: string,
  key: string,
  message: Message,
  more: Options.Publish,
  enveloped = true,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  try {
    const body = enveloped ? encodeEnvelope(message) : Buffer.from(JSON.stringify(message))
    channel.publish(exchange, key, body, { ...properties, ...more }, (error: unknown) =>
      error === null || error === undefined ? resolve() : reject(error),
    )
  } catch (error) {
    // the channel was closed a moment ago
    reject(error)
  }
  return promise
}
