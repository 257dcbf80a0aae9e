import { readFile } from 'node:fs/promises'
import type { Config } from '../../config/index.ts'
import { ConfigInvalid } from '../../errors/index.ts'
import type { BrokerOptions } from '../../lib/oslo-messaging/broker.ts'
import type { RabbitOptions } from '../../lib/oslo-messaging/topology.ts'
import { parseTransportUrl, type TransportUrl } from '../../lib/oslo-messaging/transport-url.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { booleanFrom } from '../../domain/booleans.ts'

type Rabbit = Config['oslo_messaging_rabbit']

/** The options of the file, with those of the URL's query above them. */
function withQuery(options: Rabbit, query: TransportUrl['query']): Rabbit {
  const over: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(query)) {
    const stock: unknown = Object.hasOwn(options, name) ? options[name as keyof Rabbit] : undefined
    if (typeof stock === 'boolean') over[name] = booleanFrom(text) ?? stock
    else if (typeof stock === 'number') over[name] = Number(text)
    else if (stock !== undefined) over[name] = text
  }
  return { ...options, ...over }
}

async function tlsOf(options: Rabbit): Promise<Record<string, unknown> | null> {
  if (!options.ssl) return null
  const read = async (name: string, file: string) => {
    try {
      return await readFile(file, 'utf8')
    } catch (cause) {
      throw new ConfigInvalid(`[oslo_messaging_rabbit]${name}: ${file} cannot be read.`, { cause })
    }
  }
  return {
    ...(options.ssl_ca_file !== '' && { ca: await read('ssl_ca_file', options.ssl_ca_file) }),
    ...(options.ssl_cert_file !== '' && { cert: await read('ssl_cert_file', options.ssl_cert_file) }),
    ...(options.ssl_key_file !== '' && { key: await read('ssl_key_file', options.ssl_key_file) }),
    // as oslo.messaging: without a CA the certificate is not checked
    rejectUnauthorized: options.ssl_ca_file !== '',
  }
}

const rabbitOptions = (options: Rabbit, controlExchange: string): RabbitOptions => ({
  controlExchange,
  durableQueues: options.amqp_durable_queues,
  autoDelete: options.amqp_auto_delete,
  quorumQueue: options.rabbit_quorum_queue,
  transientQuorumQueue: options.rabbit_transient_quorum_queue,
  quorumDeliveryLimit: options.rabbit_quorum_delivery_limit,
  quorumMaxMemoryLength: options.rabbit_quorum_max_memory_length,
  quorumMaxMemoryBytes: options.rabbit_quorum_max_memory_bytes,
  transientQueuesTtl: options.rabbit_transient_queues_ttl,
  haQueues: options.rabbit_ha_queues,
  streamFanout: options.rabbit_stream_fanout,
  prefetch: options.rabbit_qos_prefetch_count,
  queueManager: options.use_queue_manager ? { hostname: options.hostname, processname: options.processname } : null,
})

/**
 * How to reach the message broker and what to declare there.
 * @param url of the notifications, where they have their own; else `[DEFAULT]transport_url`
 * @throws ConfigInvalid when the URL or a certificate cannot be used
 */
export async function brokerOptions(
  config: Config,
  program: string,
  log: Logger,
  url: string = config.DEFAULT.transport_url,
): Promise<{ broker: BrokerOptions; rabbit: RabbitOptions }> {
  let parsed: TransportUrl
  try {
    parsed = parseTransportUrl(url, config.oslo_messaging_rabbit.ssl)
  } catch (cause) {
    throw new ConfigInvalid(`[DEFAULT]${(cause as Error).message}`, { cause })
  }
  const options = withQuery(config.oslo_messaging_rabbit, parsed.query)
  if (options.kombu_compression !== null)
    throw new ConfigInvalid('[oslo_messaging_rabbit]kombu_compression is not supported by this release; take it out.')
  if (options.rabbit_login_method === 'RABBIT-CR-DEMO')
    throw new ConfigInvalid('[oslo_messaging_rabbit]rabbit_login_method must be PLAIN, AMQPLAIN or EXTERNAL.')
  return {
    broker: {
      url: parsed,
      tls: await tlsOf(options),
      loginMethod: options.rabbit_login_method,
      heartbeatSeconds: options.heartbeat_timeout_threshold,
      retry: {
        interval: options.rabbit_retry_interval,
        backoff: options.rabbit_retry_backoff,
        max: options.rabbit_interval_max,
      },
      connectTimeoutMs: 30_000,
      program,
      log: log.named('oslo.messaging'),
    },
    rabbit: rabbitOptions(options, config.DEFAULT.control_exchange),
  }
}
