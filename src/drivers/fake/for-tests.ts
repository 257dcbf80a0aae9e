/** A configuration with fake hardware and nothing else, for tests. */
import { testConfig, type ConfigOverrides } from '../../config/for-tests.ts'

const fakeHardware: ConfigOverrides = {
  DEFAULT: {
    enabled_hardware_types: ['fake-hardware'],
    enabled_bios_interfaces: ['fake', 'no-bios'],
    enabled_boot_interfaces: ['fake'],
    enabled_console_interfaces: ['fake', 'no-console'],
    enabled_deploy_interfaces: ['fake'],
    enabled_firmware_interfaces: ['fake', 'no-firmware'],
    enabled_inspect_interfaces: ['fake', 'no-inspect'],
    enabled_management_interfaces: ['fake'],
    enabled_network_interfaces: ['noop'],
    enabled_power_interfaces: ['fake'],
    enabled_raid_interfaces: ['fake', 'no-raid'],
    enabled_rescue_interfaces: ['fake', 'no-rescue'],
    enabled_storage_interfaces: ['fake', 'noop'],
    enabled_vendor_interfaces: ['fake', 'no-vendor'],
    default_console_interface: 'no-console',
  },
}

/** Options of a test, on top of those of fake hardware. */
export function fakeHardwareConfig(overrides: ConfigOverrides = {}) {
  const groups = new Set([...Object.keys(fakeHardware), ...Object.keys(overrides)]) as Set<keyof ConfigOverrides>
  return testConfig(
    Object.fromEntries([...groups].map((group) => [group, { ...fakeHardware[group], ...overrides[group] }])),
  )
}
