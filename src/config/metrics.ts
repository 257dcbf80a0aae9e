import { bool, oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const metrics = optionGroup('metrics', {
  backend: oneOf(['noop', 'statsd', 'collector'], { default: 'noop' }),
  prepend_host: bool({ default: false }),
  prepend_host_reverse: bool({ default: true }),
  global_prefix: str(),
  agent_backend: str({ default: 'noop' }),
  agent_prepend_host: bool({ default: false }),
  agent_prepend_uuid: bool({ default: false }),
  agent_prepend_host_reverse: bool({ default: true }),
  agent_global_prefix: str(),
})
