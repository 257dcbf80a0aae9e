import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const dnsmasq = optionGroup('dnsmasq', {
  dhcp_optsdir: str({ default: '/etc/dnsmasq.d/optsdir.d' }),
  dhcp_hostsdir: str({ default: '/etc/dnsmasq.d/hostsdir.d' }),
  dhcp_leasefile: str({ default: '/var/lib/dnsmasq/dnsmasq.leases' }),
})
