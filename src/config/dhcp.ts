import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const dhcp = optionGroup('dhcp', {
  dhcp_provider: str({ default: 'neutron' }),
})
