import { bool, float, int, optionGroup, str } from '../lib/oslo-config/options.ts'

export const profiler = optionGroup('profiler', {
  // osprofiler
  enabled: bool({ default: false, deprecated: ['(same)/profiler_enabled'] }),
  trace_sqlalchemy: bool({ default: false }),
  trace_requests: bool({ default: false }),
  hmac_keys: str({ default: 'SECRET_KEY', secret: true }),
  connection_string: str({ default: 'messaging://' }),
  es_doc_type: str({ default: 'notification' }),
  es_scroll_time: str({ default: '2m' }),
  es_scroll_size: int({ default: 10000 }),
  socket_timeout: float({ default: 0.1 }),
  sentinel_service_name: str({ default: 'mymaster' }),
  filter_error_trace: bool({ default: false }),
})
