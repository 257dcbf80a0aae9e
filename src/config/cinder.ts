import { int, optionGroup, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const cinder = optionGroup('cinder', {
  ...keystoneClientOptions,
  action_retries: int({ default: 3 }),
  action_retry_interval: int({ default: 5 }),
  retries: int({ default: 3, deprecatedForRemoval: true }),
  service_type: str({ default: 'volumev3', name: 'service-type' }),
})
