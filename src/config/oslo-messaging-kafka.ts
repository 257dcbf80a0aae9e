import { bool, float, int, oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const osloMessagingKafka = optionGroup('oslo_messaging_kafka', {
  // oslo.messaging
  kafka_max_fetch_bytes: int({ default: 1048576 }),
  kafka_consumer_timeout: float({ default: 1.0 }),
  consumer_group: str({ default: 'oslo_messaging_consumer' }),
  producer_batch_timeout: float({ default: 0.0 }),
  producer_batch_size: int({ default: 16384 }),
  compression_codec: oneOf(['none', 'gzip', 'snappy', 'lz4', 'zstd'], { default: 'none' }),
  enable_auto_commit: bool({ default: false }),
  max_poll_records: int({ default: 500 }),
  security_protocol: oneOf(['PLAINTEXT', 'SASL_PLAINTEXT', 'SSL', 'SASL_SSL'], { default: 'PLAINTEXT' }),
  sasl_mechanism: str({ default: 'PLAIN' }),
  ssl_cafile: str({ default: '' }),
  ssl_client_cert_file: str({ default: '' }),
  ssl_client_key_file: str({ default: '' }),
  ssl_client_key_password: str({ default: '' }),
})
