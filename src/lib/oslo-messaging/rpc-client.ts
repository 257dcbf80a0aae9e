import type { ConfirmChannel } from 'amqplib'
import { Broker, type BrokerOptions } from './broker.ts'
import {
  decodeEnvelope,
  decodeReply,
  encodeRequest,
  MalformedMessage,
  newId,
  type RemoteFailure,
  type RpcReply,
} from './message.ts'
import { Publisher } from './publisher.ts'
import { replyQueue, type RabbitOptions } from './topology.ts'

/** Nobody answered in time; oslo.messaging's class. */
export class MessagingTimeout extends Error {
  override readonly name = 'MessagingTimeout'
}

/** The called method ended with an exception. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly failure: RemoteFailure
  constructor(failure: RemoteFailure) {
    super(failure.message)
    this.failure = failure
  }
}

export interface Target {
  readonly topic: string
  /** null: any host of the topic */
  readonly host: string | null
}

export interface OutgoingRequest {
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
  readonly version: string
  readonly context: Readonly<Record<string, unknown>>
}

const routingKey = ({ topic, host }: Target) => (host === null ? topic : `${topic}.${host}`)

/** Calls over the broker: one reply queue per process, matched by message id. */
export class RpcClient implements AsyncDisposable {
  private readonly publisher: Publisher
  private readonly replies: Broker
  private readonly queue: string
  private readonly options: RabbitOptions
  private readonly waiting = new Map<string, (reply: RpcReply) => void>()
  private readonly brokerOptions: BrokerOptions

  constructor(broker: BrokerOptions, options: RabbitOptions, suffix = newId()) {
    this.brokerOptions = broker
    this.options = options
    this.queue = replyQueue(suffix, options).queue
    this.publisher = new Publisher(broker, options)
    this.replies = new Broker(broker, 'replies', (channel) => this.listen(channel, suffix))
  }

  private async listen(channel: ConfirmChannel, suffix: string): Promise<void> {
    const { queue, durable, autoDelete, arguments: args } = replyQueue(suffix, this.options)
    await channel.assertQueue(queue, { durable, autoDelete, arguments: args })
    await channel.consume(queue, (delivery) => {
      if (delivery === null) return void channel.close().catch(() => {})
      channel.ack(delivery)
      this.take(delivery.content)
    })
  }

  private take(content: Buffer): void {
    try {
      const reply = decodeReply(decodeEnvelope(content))
      const waiter = this.waiting.get(reply.messageId)
      if (waiter === undefined)
        this.brokerOptions.log.info(`A reply to ${reply.messageId} came when nobody waited for it any more`)
      else waiter(reply)
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.brokerOptions.log.warning(`A reply could not be read: ${error.message}`)
    }
  }

  /**
   * Calls and waits. @returns the result as it was sent
   * @throws MessagingTimeout, RemoteError, BrokerUnreachable
   */
  async call(target: Target, request: OutgoingRequest, timeoutMs: number): Promise<unknown> {
    const messageId = newId()
    const { promise, resolve } = Promise.withResolvers<RpcReply>()
    // the old form: the result first, the end in a message without one
    let partial: RpcReply | null = null
    this.waiting.set(messageId, (reply) => {
      if (reply.ending) resolve(partial !== null && reply.failure === null ? { ...partial, ending: true } : reply)
      else if (reply.result !== null || reply.failure !== null) partial = reply
    })
    const started = Date.now()
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(
      () =>
        limit.reject(
          new MessagingTimeout(
            `No answer to ${request.method} from ${routingKey(target)} within ${timeoutMs / 1000} s.`,
          ),
        ),
      timeoutMs,
    )
    try {
      const send = async () => {
        await this.replies.ready(timeoutMs)
        const message = encodeRequest({ ...request, reply: { messageId, queue: this.queue, monitorSeconds: null } })
        const left = Math.max(timeoutMs - (Date.now() - started), 1)
        await this.publisher.toTopic(routingKey(target), message, { timeoutMs: left, expirationMs: timeoutMs })
        return promise
      }
      const reply = await Promise.race([send(), limit.promise])
      if (reply.failure !== null) throw new RemoteError(reply.failure)
      return reply.result
    } finally {
      clearTimeout(timer)
      this.waiting.delete(messageId)
    }
  }

  /** Sends and does not wait for an answer; resolves when the broker has the message. */
  async cast(target: Target, request: OutgoingRequest, timeoutMs: number): Promise<void> {
    await this.publisher.toTopic(routingKey(target), encodeRequest({ ...request, reply: null }), { timeoutMs })
  }

  /** A cast to every host of the topic. */
  async castToAll(topic: string, request: OutgoingRequest, timeoutMs: number): Promise<void> {
    await this.publisher.toAll(topic, encodeRequest({ ...request, reply: null }), timeoutMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.publisher[Symbol.asyncDispose](), this.replies[Symbol.asyncDispose]()])
  }
}
