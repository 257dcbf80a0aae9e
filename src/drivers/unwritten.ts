/**
 * Interfaces of Ironic that this release knows by name and cannot drive. Enabling one is allowed, so that an existing `ironic.conf`
 * starts and its nodes can be read, changed and moved to another interface; whatever would touch hardware is refused.
 */
import type { InterfaceType } from '../domain/interfaces.ts'
import { UnsupportedDriverExtension } from '../errors/driver.ts'
import type { DriverInterface } from './interfaces/base.ts'
import {
  BootInterface,
  ConsoleInterface,
  DeployInterface,
  ManagementInterface,
  NetworkInterface,
  PowerInterface,
  StorageInterface,
  VendorInterface,
} from './interfaces/driver.ts'
import type { InterfaceClass } from './interface-classes.ts'
import type { DriverParts } from './task.ts'

type Properties = Readonly<Record<string, string>>

const ipmi: Properties = {
  ipmi_address: 'IP address or host name of the BMC. Required.',
  ipmi_password: 'Password of the BMC user. Optional.',
  ipmi_hex_kg_key: 'Kg key for IPMI 2.0 authentication, 40 hexadecimal digits. Optional.',
  ipmi_port: 'UDP port of the BMC, 623 when not given. Optional.',
  ipmi_priv_level: 'Privilege level: ADMINISTRATOR, CALLBACK, OPERATOR or USER. Optional.',
  ipmi_username: 'BMC user. Optional.',
  ipmi_bridging: 'Bridging: no, single or dual. Optional.',
  ipmi_transit_channel: 'Transit channel; required for dual bridging.',
  ipmi_transit_address: 'Transit address; required for dual bridging.',
  ipmi_target_channel: 'Destination channel; required for single and dual bridging.',
  ipmi_target_address: 'Destination address; required for single and dual bridging.',
  ipmi_local_address: 'Local IPMB address for bridged requests. Optional.',
  ipmi_protocol_version: 'IPMI version, 2.0 or 1.5. Optional.',
  ipmi_force_boot_device: 'Set the boot device again at each power on: true or false. Optional.',
  ipmi_disable_boot_timeout: 'Disable the 60 s limit of a boot device setting: true or false. Optional.',
  ipmi_cipher_suite: 'Cipher suite number for IPMI 2.0. Optional.',
}

const networkBoot: Properties = {
  deploy_kernel: 'Kernel of the deployment ramdisk. Required.',
  deploy_ramdisk: 'The deployment ramdisk. Required.',
  force_persistent_boot_device: 'Whether boot devices are set persistently: Always, Default or Never. Optional.',
  rescue_kernel: 'Kernel of the rescue ramdisk; required for rescue.',
  rescue_ramdisk: 'The rescue ramdisk; required for rescue.',
  kernel_append_params: 'Further kernel parameters of the ramdisk. Optional.',
}

/** What the present release lacks, with the driver_info keys that belong to it. */
const lacking: Readonly<Partial<Record<InterfaceType, Readonly<Record<string, Properties>>>>> = {
  power: { ipmitool: ipmi },
  management: { ipmitool: ipmi, 'intel-ipmitool': ipmi },
  vendor: { ipmitool: ipmi },
  console: {
    'ipmitool-socat': { ...ipmi, ipmi_terminal_port: 'Local TCP port of the serial console; required for consoles.' },
    'fake-graphical': {},
    'redfish-graphical': {},
  },
  boot: { pxe: networkBoot, ipxe: networkBoot, http: networkBoot, 'http-ipxe': networkBoot },
  deploy: { anaconda: {}, ansible: {} },
  network: { flat: {}, neutron: {}, 'ironic-networking': {} },
  storage: { cinder: {} },
}

type AbstractInterface = abstract new (parts: DriverParts) => DriverInterface

/** By type: the base class, what refuses, and what there is nothing to do for since nothing was ever set up. */
const bases: Readonly<
  Partial<Record<InterfaceType, { base: AbstractInterface; refuse: readonly string[]; nothing?: readonly string[] }>>
> = {
  power: { base: PowerInterface, refuse: ['getPowerState', 'setPowerState', 'reboot'] },
  management: { base: ManagementInterface, refuse: ['supportedBootDevices', 'setBootDevice', 'getBootDevice'] },
  vendor: { base: VendorInterface, refuse: ['validateMethod', 'validateDriverMethod'] },
  console: { base: ConsoleInterface, refuse: ['startConsole', 'getConsole'], nothing: ['stopConsole'] },
  boot: {
    base: BootInterface,
    refuse: ['prepareRamdisk', 'prepareInstance', 'validateRescue', 'validateInspection'],
    nothing: ['cleanUpRamdisk', 'cleanUpInstance'],
  },
  deploy: {
    base: DeployInterface,
    refuse: ['prepare', 'prepareCleaning', 'prepareService'],
    nothing: ['cleanUp', 'takeOver', 'tearDown', 'tearDownCleaning', 'tearDownService'],
  },
  network: {
    base: NetworkInterface,
    refuse: [
      'vifAttach',
      'vifDetach',
      'addProvisioningNetwork',
      'addCleaningNetwork',
      'addRescuingNetwork',
      'addInspectionNetwork',
      'addServicingNetwork',
      'configureTenantNetworks',
      'validateInspection',
      'validateRescue',
    ],
    nothing: [
      'portChanged',
      'portgroupChanged',
      'removeProvisioningNetwork',
      'removeCleaningNetwork',
      'removeRescuingNetwork',
      'removeInspectionNetwork',
      'removeServicingNetwork',
      'unconfigureTenantNetworks',
    ],
  },
  storage: { base: StorageInterface, refuse: ['attachVolumes', 'shouldWriteImage'], nothing: ['detachVolumes'] },
}

/** The class for an interface that this release lacks; undefined when Ironic has none of that name. */
export function unwrittenInterface(type: InterfaceType, name: string): InterfaceClass | undefined {
  const properties = lacking[type]?.[name]
  const kind = bases[type]
  if (properties === undefined || kind === undefined) return undefined
  const refusal = () =>
    Promise.reject(
      new UnsupportedDriverExtension(
        `The ${type} interface ${name} is not part of this release: give the node another ${type}_interface.`,
      ),
    )
  const Base = kind.base as unknown as new (parts: DriverParts) => { properties(): Properties }
  class Unwritten extends Base {
    constructor(parts: DriverParts) {
      super(parts)
      const methods: Record<string, unknown> = {
        ...Object.fromEntries(['validate', ...kind!.refuse].map((method) => [method, refusal])),
        ...Object.fromEntries((kind!.nothing ?? []).map((method) => [method, () => Promise.resolve()])),
        // nobody may read the power, hold a VIF or have a method of the vendor here
        supportsPowerSync: () => false,
        currentVif: () => null,
        vifList: () => Promise.resolve([]),
        methods: () => ({}),
      }
      Object.assign(this, { name }, methods)
    }
    override properties(): Properties {
      return properties!
    }
  }
  return Unwritten as unknown as InterfaceClass
}
