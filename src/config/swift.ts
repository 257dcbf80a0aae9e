import { optionGroup, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const swift = optionGroup('swift', {
  ...keystoneClientOptions,
  service_type: str({ default: 'object-store', name: 'service-type' }),
})
