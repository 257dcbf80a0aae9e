import { bool, float, oneOf, optionGroup, str, uri } from '../lib/oslo-config/options.ts'

export const osloMiddlewareTracing = optionGroup('oslo_middleware_tracing', {
  // oslo.middleware
  enabled: bool({ default: false }),
  otlp_endpoint: uri({ default: 'http://localhost:4318', schemes: ['http', 'https'] }),
  otlp_protocol: oneOf(['http/protobuf', 'grpc'], { default: 'http/protobuf' }),
  service_name: str({ required: true }),
  sampling_rate: float({ default: 1.0, min: 0.0, max: 1.0 }),
  insecure: bool({ default: false }),
})
