import type { Machine } from '../machine.ts'
import { hardwareManagerVersion } from './steps.ts'

/** A disk as the agent describes it. */
export interface BlockDevice {
  readonly name: string
  readonly model: string
  readonly size: number
  readonly rotational: boolean
  readonly serial: string
  readonly vendor: string
  readonly wwn: string | null
  readonly hctl: string | null
  readonly by_path: string | null
}

/** The one disk of a machine, as the agent sees it. */
export function blockDevice(machine: Machine): BlockDevice {
  return {
    name: '/dev/sda',
    model: 'Lab disk',
    size: machine.disk.size,
    rotational: false,
    serial: machine.disk.serial,
    vendor: 'Openkeel',
    wwn: `0x5000${machine.identity.mac.replaceAll(':', '')}`,
    hctl: '0:0:0:0',
    by_path: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
  }
}

function shownDevice(machine: Machine): Record<string, unknown> {
  const nulls = {
    wwn_with_extension: null,
    wwn_vendor_extension: null,
    logical_sectors: 512,
    physical_sectors: 512,
    tran: 'sata',
  }
  return { ...blockDevice(machine), ...nulls }
}

/** The inventory of the machine, as `list_hardware_info` gives it. */
export function inventory(machine: Machine): Record<string, unknown> {
  const { identity } = machine
  return {
    interfaces: [
      {
        name: 'eth0',
        mac_address: identity.mac,
        ipv4_address: identity.address,
        ipv6_address: null,
        has_carrier: true,
        lldp: null,
        vendor: '0x1af4',
        product: '0x1000',
        client_id: null,
        biosdevname: null,
        speed_mbps: 10_000,
        pci_address: '0000:00:02.0',
        driver: 'virtio_net',
      },
    ],
    cpu: {
      model_name: 'Lab processor',
      frequency: '3000.0000',
      count: identity.cpus,
      architecture: 'x86_64',
      flags: ['fpu', 'vme', 'de', 'pse', 'tsc', 'msr', 'pae', 'vmx', 'sse4_2', 'aes', 'avx2'],
      socket_count: 1,
    },
    disks: [shownDevice(machine)],
    memory: { total: identity.memoryMib * 1024 * 1024, physical_mb: identity.memoryMib },
    bmc_address: null,
    bmc_v6address: null,
    system_vendor: {
      product_name: 'Lab machine',
      serial_number: identity.serial,
      manufacturer: 'Openkeel Lab',
      firmware: { vendor: 'Openkeel Lab', version: machine.biosVersion, build_date: '01/01/2026' },
    },
    boot: { current_boot_mode: machine.boot.mode === 'UEFI' ? 'uefi' : 'bios', pxe_interface: null },
    hostname: identity.name,
  }
}

/** What the agent posts to `continue_inspection`. */
export function inspectionData(machine: Machine, collectors: readonly string[], logs: string): Record<string, unknown> {
  return {
    inventory: inventory(machine),
    root_disk: shownDevice(machine),
    boot_interface: null,
    configuration: {
      collectors,
      managers: Object.entries(hardwareManagerVersion).map(([name, version]) => ({ name, version })),
    },
    ...(collectors.includes('logs') ? { logs } : {}),
    error: null,
  }
}

/** Whether the disk is the one that `properties.root_device` asks for (those hints that a lab disk can have). */
export function fitsRootDevice(device: BlockDevice, hints: unknown): boolean {
  if (typeof hints !== 'object' || hints === null) return true
  return Object.entries(hints).every(([name, wanted]) => {
    const text = String(wanted)
      .toLowerCase()
      .replace(/^s==\s*/, '')
    switch (name) {
      case 'name':
      case 'serial':
      case 'vendor':
      case 'model':
      case 'wwn':
      case 'hctl':
      case 'by_path':
        return String(device[name]).toLowerCase() === text
      case 'size':
        return sizeFits(Math.floor(device.size / 1024 ** 3), String(wanted))
      case 'rotational':
        return ['true', '1', 'yes'].includes(text) === device.rotational
      default:
        return false
    }
  })
}

function sizeFits(gibibytes: number, wanted: string): boolean {
  const [, operator = '==', number = ''] = /^\s*(>=|<=|==|!=|=|>|<)?\s*(\d+)\s*$/.exec(wanted) ?? []
  const value = Number(number)
  switch (operator) {
    case '>=':
    case '=':
      return gibibytes >= value
    case '<=':
      return gibibytes <= value
    case '>':
      return gibibytes > value
    case '<':
      return gibibytes < value
    case '!=':
      return gibibytes !== value
    default:
      return gibibytes === value
  }
}
