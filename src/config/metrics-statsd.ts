import { optionGroup, port, str } from '../lib/oslo-config/options.ts'

export const metricsStatsd = optionGroup('metrics_statsd', {
  statsd_host: str({ default: 'localhost' }),
  statsd_port: port({ default: 8125 }),
  agent_statsd_host: str({ default: 'localhost' }),
  agent_statsd_port: port({ default: 8125 }),
})
