/** Exchanges and queues as oslo.messaging declares them: a declaration that differs makes the broker refuse with 406. */

export interface RabbitOptions {
  readonly controlExchange: string
  readonly durableQueues: boolean
  readonly autoDelete: boolean
  readonly quorumQueue: boolean
  readonly transientQuorumQueue: boolean
  readonly quorumDeliveryLimit: number
  readonly quorumMaxMemoryLength: number
  readonly quorumMaxMemoryBytes: number
  /** seconds that an unused reply or fanout queue lives; 0: for ever */
  readonly transientQueuesTtl: number
  readonly haQueues: boolean
  readonly streamFanout: boolean
  readonly prefetch: number
  /** names of reply and fanout queues are made of these rather than at random */
  readonly queueManager: { readonly hostname: string; readonly processname: string } | null
}

export const stockRabbitOptions: RabbitOptions = {
  controlExchange: 'ironic',
  durableQueues: false,
  autoDelete: false,
  quorumQueue: false,
  transientQuorumQueue: false,
  quorumDeliveryLimit: 0,
  quorumMaxMemoryLength: 0,
  quorumMaxMemoryBytes: 0,
  transientQueuesTtl: 1800,
  haQueues: false,
  streamFanout: false,
  prefetch: 0,
  queueManager: null,
}

export interface ExchangeDeclaration {
  readonly exchange: string
  readonly type: 'topic' | 'fanout'
  readonly durable: boolean
  readonly autoDelete: boolean
}

export interface QueueDeclaration {
  readonly queue: string
  readonly durable: boolean
  readonly autoDelete: boolean
  readonly arguments: Readonly<Record<string, number | string>>
}

const quorumArguments = (options: RabbitOptions): Record<string, number | string> => ({
  'x-queue-type': 'quorum',
  ...(options.quorumDeliveryLimit > 0 && { 'x-delivery-limit': options.quorumDeliveryLimit }),
  ...(options.quorumMaxMemoryLength > 0 && { 'x-max-in-memory-length': options.quorumMaxMemoryLength }),
  ...(options.quorumMaxMemoryBytes > 0 && { 'x-max-in-memory-bytes': options.quorumMaxMemoryBytes }),
})

const haArguments = (options: RabbitOptions): Record<string, string> =>
  options.haQueues ? { 'x-ha-policy': 'all' } : {}

/** The exchange of all topics, `ironic`. */
export const controlExchange = (options: RabbitOptions): ExchangeDeclaration => ({
  exchange: options.controlExchange,
  type: 'topic',
  durable: options.durableQueues || options.quorumQueue,
  autoDelete: options.autoDelete,
})

/** The queue of a topic, of one host of a topic, or of a notification topic; its routing key is its name. */
export const topicQueue = (name: string, options: RabbitOptions): QueueDeclaration => ({
  queue: name,
  durable: options.durableQueues || options.quorumQueue,
  autoDelete: options.autoDelete,
  arguments: { ...haArguments(options), ...(options.quorumQueue ? quorumArguments(options) : {}) },
})

export const fanoutExchange = (topic: string, options: RabbitOptions): ExchangeDeclaration => ({
  exchange: `${topic}_fanout`,
  type: 'fanout',
  durable: options.transientQuorumQueue,
  autoDelete: true,
})

const transientArguments = (options: RabbitOptions): Record<string, number | string> => ({
  ...haArguments(options),
  ...(options.transientQueuesTtl > 0 && { 'x-expires': options.transientQueuesTtl * 1000 }),
  ...(options.transientQuorumQueue ? quorumArguments(options) : {}),
})

/** This server's own queue behind the fanout exchange. @param suffix what makes its name unique */
export function fanoutQueue(topic: string, suffix: string, options: RabbitOptions): QueueDeclaration {
  if (options.streamFanout)
    return {
      queue: `${topic}_fanout`,
      durable: true,
      autoDelete: false,
      arguments: { 'x-queue-type': 'stream', 'x-max-age': `${options.transientQueuesTtl}s` },
    }
  return {
    queue: `${topic}_fanout_${suffix}`,
    durable: options.transientQuorumQueue,
    autoDelete: false,
    arguments: transientArguments(options),
  }
}

/** The queue that answers to this process's calls arrive in; it is bound to nothing but the default exchange. */
export const replyQueue = (suffix: string, options: RabbitOptions): QueueDeclaration => ({
  queue: `reply_${suffix}`,
  durable: options.transientQuorumQueue,
  autoDelete: false,
  arguments: transientArguments(options),
})
