import type { InterfaceType } from '../domain/interfaces.ts'

/**
 * Hardware types and the interfaces each offers, by entry-point name; the first that is enabled is the default. A test holds
 * this table equal to real Ironic's.
 */
export const hardwareTypes = {
  'fake-hardware': {
    bios: ['fake', 'no-bios'],
    boot: ['fake', 'ipxe', 'pxe', 'http-ipxe', 'http'],
    console: ['fake', 'no-console', 'fake-graphical'],
    deploy: ['fake', 'autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent'],
    firmware: ['fake', 'no-firmware'],
    inspect: ['fake', 'agent', 'no-inspect'],
    management: ['fake'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['fake'],
    raid: ['fake', 'no-raid', 'agent'],
    rescue: ['fake', 'no-rescue', 'agent'],
    storage: ['fake', 'noop', 'cinder', 'external'],
    vendor: ['fake', 'no-vendor'],
  },
  idrac: {
    bios: ['idrac-redfish', 'redfish', 'no-bios'],
    boot: ['ipxe', 'pxe', 'http-ipxe', 'http', 'idrac-redfish-virtual-media', 'redfish-https'],
    console: ['redfish-graphical', 'ipmitool-socat', 'no-console', 'fake-graphical'],
    deploy: ['autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent'],
    firmware: ['redfish', 'no-firmware'],
    inspect: ['idrac-redfish', 'agent', 'no-inspect'],
    management: ['idrac-redfish'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['idrac-redfish', 'redfish'],
    raid: ['idrac-redfish', 'no-raid', 'agent'],
    rescue: ['no-rescue', 'agent'],
    storage: ['noop', 'cinder', 'external'],
    vendor: ['idrac-redfish', 'redfish', 'no-vendor'],
  },
  'intel-ipmi': {
    bios: ['no-bios'],
    boot: ['ipxe', 'pxe', 'http-ipxe', 'http'],
    console: ['ipmitool-socat', 'no-console', 'fake-graphical'],
    deploy: ['autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent'],
    firmware: ['no-firmware'],
    inspect: ['agent', 'no-inspect'],
    management: ['intel-ipmitool'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['ipmitool'],
    raid: ['no-raid', 'agent'],
    rescue: ['no-rescue', 'agent'],
    storage: ['noop', 'cinder', 'external'],
    vendor: ['ipmitool', 'no-vendor'],
  },
  ipmi: {
    bios: ['no-bios'],
    boot: ['ipxe', 'pxe', 'http-ipxe', 'http'],
    console: ['ipmitool-socat', 'no-console', 'fake-graphical'],
    deploy: ['autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent'],
    firmware: ['no-firmware'],
    inspect: ['agent', 'no-inspect'],
    management: ['ipmitool', 'noop'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['ipmitool'],
    raid: ['no-raid', 'agent'],
    rescue: ['no-rescue', 'agent'],
    storage: ['noop', 'cinder', 'external'],
    vendor: ['ipmitool', 'no-vendor'],
  },
  'manual-management': {
    bios: ['no-bios'],
    boot: ['ipxe', 'pxe', 'http-ipxe', 'http'],
    console: ['no-console', 'fake-graphical'],
    deploy: ['autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent', 'noop'],
    firmware: ['no-firmware'],
    inspect: ['agent', 'no-inspect'],
    management: ['noop', 'fake'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['agent', 'fake'],
    raid: ['no-raid', 'agent'],
    rescue: ['no-rescue', 'agent'],
    storage: ['noop', 'cinder', 'external'],
    vendor: ['no-vendor'],
  },
  redfish: {
    bios: ['redfish', 'no-bios'],
    boot: ['ipxe', 'pxe', 'http-ipxe', 'http', 'redfish-virtual-media', 'redfish-https'],
    console: ['redfish-graphical', 'ipmitool-socat', 'no-console', 'fake-graphical'],
    deploy: ['autodetect', 'direct', 'ansible', 'ramdisk', 'anaconda', 'bootc', 'custom-agent'],
    firmware: ['redfish', 'no-firmware'],
    inspect: ['redfish', 'agent', 'no-inspect'],
    management: ['redfish', 'noop'],
    network: ['flat', 'neutron', 'ironic-networking', 'noop'],
    power: ['redfish'],
    raid: ['redfish', 'no-raid', 'agent'],
    rescue: ['no-rescue', 'agent'],
    storage: ['noop', 'cinder', 'external'],
    vendor: ['redfish', 'no-vendor'],
  },
} as const satisfies Record<string, Record<InterfaceType, readonly string[]>>

export type HardwareType = keyof typeof hardwareTypes

/** `fake-hardware` takes any enabled interface, not only those it offers. */
export const takesAnyInterface: ReadonlySet<string> = new Set<HardwareType>(['fake-hardware'])

export const isHardwareType = (name: string): name is HardwareType => Object.hasOwn(hardwareTypes, name)
