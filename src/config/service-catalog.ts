import { optionGroup, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const serviceCatalog = optionGroup('service_catalog', {
  ...keystoneClientOptions,
  service_type: str({ default: 'baremetal', name: 'service-type' }),
})
