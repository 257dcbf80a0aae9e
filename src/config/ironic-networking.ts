import { list, oneOf, optionGroup, optionalList, str } from '../lib/oslo-config/options.ts'

export const ironicNetworking = optionGroup('ironic_networking', {
  rpc_transport: oneOf(['json-rpc', 'oslo_messaging']),
  switch_config_file: str({ default: '' }),
  driver_config_dir: str({ default: '/var/lib/ironic/networking' }),
  enabled_switch_drivers: list({ default: [] }),
  allowed_vlans: optionalList(),
  cleaning_network: str({ default: '' }),
  rescuing_network: str({ default: '' }),
  provisioning_network: str({ default: '' }),
  servicing_network: str({ default: '' }),
  inspection_network: str({ default: '' }),
  idle_network: str({ default: '' }),
})
