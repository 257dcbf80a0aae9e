import type { RequestContext } from '../../domain/context.ts'
import type { InterfaceType } from '../../domain/interfaces.ts'
import type { PowerState } from '../../domain/states.ts'
import type { Port, Portgroup } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { checkRaidConfig, logicalDiskProperties } from '../../domain/raid-config.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import type { Task } from '../task.ts'
import { DriverInterface } from './base.ts'

/** What a method does that an interface leaves out: the name is the one real Ironic's error carries. */
const refuse = (task: Task, extension: string): Promise<never> =>
  Promise.reject(new UnsupportedDriverExtension({ driver: task.node.driver ?? '', extension }))

/*
 * What a conductor may ask of each kind of interface; real Ironic's `drivers.base`. Methods that many interfaces leave out
 * have their default here: refuse (UnsupportedDriverExtension), or do nothing where Ironic does nothing.
 */

export abstract class PowerInterface extends DriverInterface {
  readonly type = 'power'
  abstract getPowerState(task: Task): Promise<PowerState>
  /** @param timeout seconds to wait for the state; null: the configured one */
  abstract setPowerState(task: Task, target: string, options?: { timeout?: number | null }): Promise<void>
  abstract reboot(task: Task, options?: { timeout?: number | null }): Promise<void>
  supportedPowerStates(_task: Task): readonly string[] {
    return ['power on', 'power off', 'rebooting']
  }
  /** false: the state cannot be read from outside (agent power) */
  supportsPowerSync(_task: Task): boolean {
    return true
  }
}

export interface BootDevice {
  boot_device: string | null
  persistent: boolean | null
}

export abstract class ManagementInterface extends DriverInterface {
  readonly type = 'management'
  abstract supportedBootDevices(task: Task): Promise<string[]>
  abstract setBootDevice(task: Task, device: string, persistent: boolean): Promise<void>
  abstract getBootDevice(task: Task): Promise<BootDevice>
  supportedBootModes(task: Task): Promise<string[]> {
    return refuse(task, 'get_supported_boot_modes')
  }
  setBootMode(task: Task, _mode: string): Promise<void> {
    return refuse(task, 'set_boot_mode')
  }
  getBootMode(task: Task): Promise<string | null> {
    return refuse(task, 'get_boot_mode')
  }
  getSecureBootState(task: Task): Promise<boolean> {
    return refuse(task, 'get_secure_boot_state')
  }
  setSecureBootState(task: Task, _state: boolean): Promise<void> {
    return refuse(task, 'set_secure_boot_state')
  }
  injectNmi(task: Task): Promise<void> {
    return refuse(task, 'inject_nmi')
  }
  /** Sensor type, sensor name, reading. */
  getSensorsData(task: Task): Promise<JsonDict> {
    return refuse(task, 'get_sensors_data')
  }
  /** `OK`, `Warning`, `Critical`; null when the BMC does not say. */
  getNodeHealth(task: Task): Promise<string | null> {
    return refuse(task, 'get_node_health')
  }
  /** component, indicator id, `{readonly, states}` */
  supportedIndicators(task: Task, _component: string | null): Promise<Record<string, Record<string, JsonDict>>> {
    return refuse(task, 'get_supported_indicators')
  }
  getIndicatorState(task: Task, _component: string, _indicator: string): Promise<string> {
    return refuse(task, 'get_indicator_state')
  }
  setIndicatorState(task: Task, _component: string, _indicator: string, _state: string): Promise<void> {
    return refuse(task, 'set_indicator_state')
  }
  /** Manufacturer as `properties.vendor` holds it; null when unknown. */
  detectVendor(task: Task): Promise<string | null> {
    return refuse(task, 'detect_vendor')
  }
  /** MAC to state of each NIC that the BMC knows. */
  getMacAddresses(task: Task): Promise<string[]> {
    return refuse(task, 'get_mac_addresses')
  }
  attachVirtualMedia(task: Task, _deviceType: string, _imageUrl: string): Promise<void> {
    return refuse(task, 'attach_virtual_media')
  }
  detachVirtualMedia(task: Task, _deviceTypes: readonly string[]): Promise<void> {
    return refuse(task, 'detach_virtual_media')
  }
  getVirtualMedia(task: Task): Promise<JsonDict[]> {
    return refuse(task, 'get_virtual_media')
  }
}

export abstract class BootInterface extends DriverInterface {
  readonly type = 'boot'
  readonly capabilities: readonly string[] = []
  /** Makes the node boot the ramdisk at its next start. @param params kernel parameters for the agent */
  abstract prepareRamdisk(task: Task, params: Readonly<Record<string, string>>): Promise<void>
  abstract cleanUpRamdisk(task: Task): Promise<void>
  abstract prepareInstance(task: Task): Promise<void>
  abstract cleanUpInstance(task: Task): Promise<void>
  validateRescue(task: Task): Promise<void> {
    return refuse(task, 'validate_rescue')
  }
  validateInspection(task: Task): Promise<void> {
    return refuse(task, 'validate_inspection')
  }
}

export interface HeartbeatInfo {
  readonly callbackUrl: string
  readonly agentVersion: string
  readonly agentVerifyCa: string | null
  readonly agentStatus: string | null
  readonly agentStatusMessage: string | null
}

/** `wait` stands for the flow's wait state: the agent, or a poller, goes on. */
export abstract class DeployInterface extends DriverInterface {
  readonly type = 'deploy'
  abstract prepare(task: Task): Promise<void>
  abstract cleanUp(task: Task): Promise<void>
  abstract takeOver(task: Task): Promise<void>
  /** Ends in state `deleted`; power off, networks, volumes. */
  abstract tearDown(task: Task): Promise<void>
  prepareCleaning(_task: Task): Promise<'wait' | void> {
    return Promise.resolve()
  }
  tearDownCleaning(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  prepareService(_task: Task): Promise<'wait' | void> {
    return Promise.resolve()
  }
  tearDownService(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  /** A driver that knows no agent takes note and goes on. */
  heartbeat(task: Task, _info: HeartbeatInfo): Promise<void> {
    task.log.warning(
      `Node ${task.node.uuid} sent a heartbeat, but its deploy interface ${this.name} has no use for one`,
    )
    return Promise.resolve()
  }
  /** `autodetect` picks the interface that fits the image and writes it to the node. @throws InvalidParameterValue */
  switchInterface(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  /** Undoes `switchInterface`: the original stands in `driver_internal_info.original_deploy_interface`. */
  async restoreInterface(task: Task): Promise<void> {
    const { original_deploy_interface: original, ...rest } = task.node.driver_internal_info ?? {}
    if (typeof original !== 'string' || original === '') return
    task.node.deploy_interface = original
    task.node.driver_internal_info = rest
    await task.save()
    task.loadDriver()
  }
  /** Keeps the ramdisk's logs, as `[agent]deploy_logs_*` say; what runs no agent has none. @param label of the flow */
  collectLogs(_task: Task, _label: string): Promise<void> {
    return Promise.resolve()
  }
  /** Does the interface fit the node's image? Asked by `autodetect`. */
  supportsDeploy(_task: Task): Promise<boolean> {
    return Promise.resolve(true)
  }
}

export abstract class InspectInterface extends DriverInterface {
  readonly type = 'inspect'
  /** `wait`: goes on in `inspect wait` until the ramdisk reports */
  abstract inspectHardware(task: Task): Promise<'wait' | void>
  abort(task: Task): Promise<void> {
    return refuse(task, 'abort')
  }
  continueInspection(task: Task, _inventory: JsonDict, _pluginData: JsonDict | null): Promise<'wait' | void> {
    return refuse(task, 'abort')
  }
}

export abstract class NetworkInterface extends DriverInterface {
  readonly type = 'network'
  /** `metadata`: the config drive's network data can be checked and made anew */
  readonly capabilities: readonly string[] = []
  override validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  abstract portChanged(task: Task, port: Port): Promise<void>
  abstract portgroupChanged(task: Task, portgroup: Portgroup): Promise<void>
  abstract vifAttach(task: Task, vifInfo: JsonDict): Promise<void>
  abstract vifDetach(task: Task, vifId: string): Promise<void>
  abstract vifList(task: Task): Promise<JsonDict[]>
  abstract currentVif(task: Task, port: Port | Portgroup): string | null
  abstract addProvisioningNetwork(task: Task): Promise<void>
  abstract removeProvisioningNetwork(task: Task): Promise<void>
  abstract addCleaningNetwork(task: Task): Promise<JsonDict>
  abstract removeCleaningNetwork(task: Task): Promise<void>
  addRescuingNetwork(_task: Task): Promise<JsonDict> {
    return Promise.resolve({})
  }
  removeRescuingNetwork(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  addInspectionNetwork(_task: Task): Promise<JsonDict> {
    return Promise.resolve({})
  }
  removeInspectionNetwork(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  addServicingNetwork(_task: Task): Promise<JsonDict> {
    return Promise.resolve({})
  }
  removeServicingNetwork(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  abstract configureTenantNetworks(task: Task): Promise<void>
  abstract unconfigureTenantNetworks(task: Task): Promise<void>
  validateRescue(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  validateInspection(task: Task): Promise<void> {
    return refuse(task, 'validate_inspection')
  }
  /** a smart NIC must be powered for its networks to be changed */
  needPowerOn(_task: Task): boolean {
    return false
  }
  nodeNetworkData(task: Task): Promise<JsonDict> {
    return Promise.resolve(task.node.network_data ?? {})
  }
}

export abstract class StorageInterface extends DriverInterface {
  readonly type = 'storage'
  abstract attachVolumes(task: Task): Promise<void>
  abstract detachVolumes(task: Task): Promise<void>
  abstract shouldWriteImage(task: Task): Promise<boolean>
}

export abstract class ConsoleInterface extends DriverInterface {
  readonly type = 'console'
  abstract startConsole(task: Task): Promise<void>
  abstract stopConsole(task: Task): Promise<void>
  abstract getConsole(task: Task): Promise<JsonDict>
}

export abstract class RescueInterface extends DriverInterface {
  readonly type = 'rescue'
  abstract rescue(task: Task): Promise<'wait' | void>
  abstract unrescue(task: Task): Promise<void>
  cleanUp(_task: Task): Promise<void> {
    return Promise.resolve()
  }
}

export abstract class BiosInterface extends DriverInterface {
  readonly type = 'bios'
  /** Reads the settings of the BMC into the table. */
  abstract cacheBiosSettings(task: Task): Promise<void>
}

export abstract class RaidInterface extends DriverInterface {
  readonly type = 'raid'
  /** Checks the node's target configuration, when it has one. */
  override async validate(task: Task): Promise<void> {
    const config = task.node.target_raid_config
    if (config !== null && Object.keys(config).length > 0) await this.validateRaidConfig(task, config)
  }
  /** @throws InvalidParameterValue */
  validateRaidConfig(_task: Task, config: JsonDict): Promise<void> {
    checkRaidConfig(config)
    return Promise.resolve()
  }
  logicalDiskProperties(): Readonly<Record<string, string>> {
    return logicalDiskProperties
  }
}

export abstract class FirmwareInterface extends DriverInterface {
  readonly type = 'firmware'
  abstract cacheFirmwareComponents(task: Task): Promise<void>
}

/** A vendor method of a node or of a driver. */
export interface VendorMethod {
  readonly httpMethods: readonly string[]
  readonly description: string
  /** false: the caller waits for the result */
  readonly async: boolean
  /** the return value is sent as a file */
  readonly attach?: boolean
  readonly requireExclusiveLock?: boolean
  readonly run: (task: Task, info: JsonDict, httpMethod: string) => Promise<unknown>
}

/** A vendor method of a hardware type: there is no node. */
export interface DriverVendorMethod extends Omit<VendorMethod, 'run' | 'requireExclusiveLock'> {
  readonly run: (context: RequestContext, info: JsonDict, httpMethod: string) => Promise<unknown>
}

export abstract class VendorInterface extends DriverInterface {
  readonly type = 'vendor'
  abstract methods(): Readonly<Record<string, VendorMethod>>
  driverMethods(): Readonly<Record<string, DriverVendorMethod>> {
    return {}
  }
  /** Checks the body of a call before it runs. */
  validateMethod(_task: Task, _method: string, _httpMethod: string, _info: JsonDict): Promise<void> {
    return Promise.resolve()
  }
  /** The same for a method of the driver, where there is no node. */
  validateDriverMethod(_method: string, _httpMethod: string, _info: JsonDict): Promise<void> {
    return Promise.resolve()
  }
}

export interface InterfacesByType {
  power: PowerInterface
  management: ManagementInterface
  boot: BootInterface
  deploy: DeployInterface
  network: NetworkInterface
  storage: StorageInterface
  inspect: InspectInterface
  console: ConsoleInterface
  rescue: RescueInterface
  bios: BiosInterface
  raid: RaidInterface
  firmware: FirmwareInterface
  vendor: VendorInterface
}

/** The interfaces of one node, by type: what Ironic calls a bare metal driver. */
export type Driver = { readonly [K in InterfaceType]: InterfacesByType[K] }
