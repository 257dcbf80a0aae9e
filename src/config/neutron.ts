import { bool, int, list, optionGroup, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const neutron = optionGroup('neutron', {
  ...keystoneClientOptions,
  add_all_ports: bool({ default: false, mutable: true }),
  allow_disabling_power_off: bool({ default: false }),
  cleaning_network: str({ mutable: true, deprecated: ['(same)/cleaning_network_uuid'] }),
  cleaning_network_security_groups: list({ default: [], mutable: true }),
  dhcpv6_stateful_address_count: int({ default: 4, mutable: true }),
  fail_on_port_binding_failure: bool({ default: true }),
  inspection_network: str({ mutable: true }),
  inspection_network_security_groups: list({ default: [], mutable: true }),
  port_setup_delay: int({ default: 0, min: 0, mutable: true }),
  provisioning_network: str({ mutable: true, deprecated: ['(same)/provisioning_network_uuid'] }),
  provisioning_network_security_groups: list({ default: [], mutable: true }),
  request_timeout: int({ default: 45, mutable: true }),
  rescuing_network: str({ mutable: true }),
  rescuing_network_security_groups: list({ default: [], mutable: true }),
  retries: int({ default: 3, mutable: true, deprecatedForRemoval: true }),
  service_type: str({ default: 'network', name: 'service-type' }),
  servicing_network: str({ mutable: true }),
  servicing_network_security_groups: list({ default: [], mutable: true }),
})
