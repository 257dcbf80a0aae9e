import { bool, optionGroup, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const nova = optionGroup('nova', {
  ...keystoneClientOptions,
  send_power_notifications: bool({ default: true, mutable: true }),
  service_type: str({ default: 'compute', name: 'service-type' }),
})
