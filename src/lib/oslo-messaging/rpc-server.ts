import type { ConfirmChannel, ConsumeMessage } from 'amqplib'
import { Broker, type BrokerOptions } from './broker.ts'
import {
  decodeEnvelope,
  decodeRequest,
  encodeReply,
  MalformedMessage,
  newId,
  type RemoteFailure,
  type RpcRequest,
} from './message.ts'
import { declareExchange, Publisher, Unroutable } from './publisher.ts'
import { controlExchange, fanoutExchange, fanoutQueue, topicQueue, type RabbitOptions } from './topology.ts'

/** What became of a request. */
export type Outcome = { readonly result: unknown } | { readonly failure: RemoteFailure }

/** Runs a request. It must not throw: a failure is an outcome. */
export type Dispatch = (request: RpcRequest) => Promise<Outcome>

/** How many of the last messages are remembered, so that none runs twice. */
const rememberedIds = 16
const replyRetryMs = 250
const replyPatienceMs = 60_000

/** Serves a topic: the shared queue, this host's own, and the fanout. A request is acknowledged before it runs: at most once. */
export class RpcServer implements AsyncDisposable {
  private readonly broker: Broker
  private readonly publisher: Publisher
  private readonly brokerOptions: BrokerOptions
  private readonly recent: string[] = []
  private readonly running = new Set<Promise<void>>()
  private readonly closing = new AbortController()
  /** reply queues that are gone: until when nothing is sent there */
  private readonly dead = new Map<string, number>()
  private readonly dispatch: Dispatch
  private readonly fanoutName: string
  private readonly tags: string[] = []

  constructor(
    target: { readonly topic: string; readonly host: string },
    dispatch: Dispatch,
    broker: BrokerOptions,
    options: RabbitOptions,
    suffix = newId(),
  ) {
    this.dispatch = dispatch
    this.brokerOptions = broker
    this.publisher = new Publisher(broker, options)
    this.fanoutName = fanoutQueue(target.topic, suffix, options).queue
    this.broker = new Broker(broker, `serving ${target.topic}`, (channel) =>
      this.listen(channel, target, options, suffix),
    )
  }

  private async listen(
    channel: ConfirmChannel,
    target: { topic: string; host: string },
    options: RabbitOptions,
    suffix: string,
  ): Promise<void> {
    const { topic, host } = target
    if (options.prefetch > 0) await channel.prefetch(options.prefetch)
    const exchange = controlExchange(options)
    const fanout = fanoutExchange(topic, options)
    await declareExchange(channel, exchange)
    const queues = [
      { ...topicQueue(topic, options), from: exchange.exchange, key: topic },
      { ...topicQueue(`${topic}.${host}`, options), from: exchange.exchange, key: `${topic}.${host}` },
      { ...fanoutQueue(topic, suffix, options), from: fanout.exchange, key: topic },
    ]
    await declareExchange(channel, fanout)
    for (const { queue, durable, autoDelete, arguments: args, from, key } of queues) {
      await channel.assertQueue(queue, { durable, autoDelete, arguments: args })
      await channel.bindQueue(queue, from, key)
    }
    this.tags.length = 0
    for (const { queue } of queues) {
      const { consumerTag } = await channel.consume(queue, (delivery) => this.take(channel, delivery))
      this.tags.push(consumerTag)
    }
  }

  /** Resolves once the queues are there and consumed. @throws BrokerUnreachable */
  async start(timeoutMs: number): Promise<void> {
    await this.broker.ready(timeoutMs)
  }

  private take(channel: ConfirmChannel, delivery: ConsumeMessage | null): void {
    // the broker cancelled the consumer: its queue is gone
    if (delivery === null) return void channel.close().catch(() => {})
    channel.ack(delivery)
    let request: RpcRequest
    try {
      if (delivery.properties.contentType !== 'application/json')
        throw new MalformedMessage('its content type is not application/json')
      request = decodeRequest(decodeEnvelope(delivery.content))
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.brokerOptions.log.warning(`A message could not be read: ${error.message}`)
      return
    }
    if (this.isDuplicate(request.uniqueId)) return
    const work = this.run(request).finally(() => this.running.delete(work))
    this.running.add(work)
  }

  private isDuplicate(id: string | null): boolean {
    if (id === null) return false
    if (this.recent.includes(id)) return true
    this.recent.push(id)
    if (this.recent.length > rememberedIds) this.recent.shift()
    return false
  }

  private async run(request: RpcRequest): Promise<void> {
    const { reply } = request
    const beat =
      reply?.monitorSeconds == null
        ? undefined
        : setInterval(() => void this.reply(reply, { result: null }, false), (reply.monitorSeconds * 1000) / 2)
    let outcome: Outcome
    try {
      outcome = await this.dispatch(request)
    } finally {
      clearInterval(beat)
    }
    if (reply !== null) await this.reply(reply, outcome, true)
  }

  private async reply(to: NonNullable<RpcRequest['reply']>, outcome: Outcome, ending: boolean): Promise<void> {
    const now = Date.now()
    if ((this.dead.get(to.queue) ?? 0) > now) return
    const { log } = this.brokerOptions
    const failure = 'failure' in outcome ? outcome.failure : null
    const result = 'result' in outcome ? outcome.result : null
    const message = encodeReply({ messageId: to.messageId, result, failure, ending })
    for (const until = now + replyPatienceMs; ;) {
      try {
        await this.publisher.toReplyQueue(to.queue, message, Math.max(until - Date.now(), 1))
        return
      } catch (error) {
        if (Date.now() + replyRetryMs > until || this.closing.signal.aborted || !ending) {
          if (error instanceof Unroutable) this.forget(to.queue)
          log.error(`The reply to ${to.messageId} could not be delivered`, { error })
          return
        }
      }
      await new Promise((resolve) => setTimeout(resolve, replyRetryMs))
    }
  }

  private forget(queue: string): void {
    const now = Date.now()
    for (const [name, until] of this.dead) if (until < now) this.dead.delete(name)
    this.dead.set(queue, now + replyPatienceMs)
  }

  /** Takes no more requests; running ones end and are answered. */
  async stop(): Promise<void> {
    const channel = await this.broker.ready(1000).catch(() => null)
    if (channel !== null) {
      for (const tag of this.tags) await channel.cancel(tag).catch(() => {})
      await channel.deleteQueue(this.fanoutName).catch(() => {})
    }
    await Promise.all(this.running)
    await this.broker[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.closing.abort()
    await this.publisher[Symbol.asyncDispose]()
  }
}
