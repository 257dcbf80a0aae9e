import { bool, dict, int, list, multiStr, oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const inspector = optionGroup('inspector', {
  status_check_period: int({ default: 60 }),
  force_dhcp: bool({ default: false }),
  extra_kernel_params: str({ default: '' }),
  power_off: bool({ default: true }),
  callback_endpoint_override: str({ deprecatedForRemoval: true }),
  require_managed_boot: bool({ default: true }),
  add_ports: oneOf(['all', 'active', 'pxe', 'disabled'], { default: 'pxe' }),
  keep_ports: oneOf(['all', 'present', 'added'], { default: 'all' }),
  update_pxe_enabled: bool({ default: true }),
  pre_create_ports: bool({ default: true }),
  default_hooks: str({ default: 'ramdisk-error,validate-interfaces,ports,architecture' }),
  hooks: str({ default: '$default_hooks' }),
  known_accelerators: str({ default: '$pybasedir/drivers/modules/inspector/hooks/known_accelerators.yaml' }),
  cpu_capabilities: dict({
    default: {
      vmx: 'cpu_vt',
      svm: 'cpu_vt',
      aes: 'cpu_aes',
      pse: 'cpu_hugepages',
      pdpe1gb: 'cpu_hugepages_1g',
      smx: 'cpu_txt',
    },
  }),
  extra_hardware_strict: bool({ default: false }),
  pci_device_alias: multiStr({ default: [] }),
  physical_network_cidr_map: list({ default: [], sampleDefault: '10.10.10.0/24:physnet_a,2001:db8::/64:physnet_b' }),
  disk_partitioning_spacing: bool({ default: true }),
})
