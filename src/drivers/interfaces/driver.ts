import type { InterfaceType } from '../../domain/interfaces.ts'
import type { PowerState } from '../../domain/states.ts'
import type { Port, Portgroup } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'
import { DriverInterface } from './base.ts'

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
  abstract supportedBootModes(task: Task): Promise<string[]>
  abstract setBootMode(task: Task, mode: string): Promise<void>
  abstract getBootMode(task: Task): Promise<string | null>
  abstract getSecureBootState(task: Task): Promise<boolean>
  abstract setSecureBootState(task: Task, state: boolean): Promise<void>
  abstract injectNmi(task: Task): Promise<void>
  abstract getSensorsData(task: Task): Promise<JsonDict>
  /** component, indicator id, `{readonly, states}` */
  abstract supportedIndicators(task: Task, component: string | null): Promise<Record<string, Record<string, JsonDict>>>
  abstract getIndicatorState(task: Task, component: string, indicator: string): Promise<string>
  abstract setIndicatorState(task: Task, component: string, indicator: string, state: string): Promise<void>
  /** Manufacturer as `properties.vendor` holds it; null when unknown. */
  abstract detectVendor(task: Task): Promise<string | null>
  /** MAC to state of each NIC that the BMC knows. */
  abstract getMacAddresses(task: Task): Promise<string[]>
  abstract attachVirtualMedia(task: Task, deviceType: string, imageUrl: string): Promise<void>
  abstract detachVirtualMedia(task: Task, deviceTypes: readonly string[]): Promise<void>
  abstract getVirtualMedia(task: Task): Promise<JsonDict[]>
}

export abstract class BootInterface extends DriverInterface {
  readonly type = 'boot'
  readonly capabilities: readonly string[] = []
  /** Makes the node boot the ramdisk at its next start. @param params kernel parameters for the agent */
  abstract prepareRamdisk(task: Task, params: Readonly<Record<string, string>>): Promise<void>
  abstract cleanUpRamdisk(task: Task): Promise<void>
  abstract prepareInstance(task: Task): Promise<void>
  abstract cleanUpInstance(task: Task): Promise<void>
  abstract validateRescue(task: Task): Promise<void>
  abstract validateInspection(task: Task): Promise<void>
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
  abstract prepareCleaning(task: Task): Promise<'wait' | void>
  abstract tearDownCleaning(task: Task): Promise<void>
  abstract prepareService(task: Task): Promise<'wait' | void>
  abstract tearDownService(task: Task): Promise<void>
  abstract heartbeat(task: Task, info: HeartbeatInfo): Promise<void>
}

export abstract class InspectInterface extends DriverInterface {
  readonly type = 'inspect'
  /** `wait`: goes on in `inspect wait` until the ramdisk reports */
  abstract inspectHardware(task: Task): Promise<'wait' | void>
  abstract abort(task: Task): Promise<void>
  abstract continueInspection(task: Task, inventory: JsonDict, pluginData: JsonDict | null): Promise<'wait' | void>
}

export abstract class NetworkInterface extends DriverInterface {
  readonly type = 'network'
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
  abstract addRescuingNetwork(task: Task): Promise<JsonDict>
  abstract removeRescuingNetwork(task: Task): Promise<void>
  abstract addInspectionNetwork(task: Task): Promise<JsonDict>
  abstract removeInspectionNetwork(task: Task): Promise<void>
  abstract addServicingNetwork(task: Task): Promise<JsonDict>
  abstract removeServicingNetwork(task: Task): Promise<void>
  abstract configureTenantNetworks(task: Task): Promise<void>
  abstract unconfigureTenantNetworks(task: Task): Promise<void>
  abstract validateRescue(task: Task): Promise<void>
  abstract validateInspection(task: Task): Promise<void>
  abstract needPowerOn(task: Task): boolean
  abstract nodeNetworkData(task: Task): Promise<JsonDict>
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
  abstract cleanUp(task: Task): Promise<void>
}

export abstract class BiosInterface extends DriverInterface {
  readonly type = 'bios'
  /** Reads the settings of the BMC into the table. */
  abstract cacheBiosSettings(task: Task): Promise<void>
}

export abstract class RaidInterface extends DriverInterface {
  readonly type = 'raid'
  abstract validateRaidConfig(task: Task, config: JsonDict): Promise<void>
  abstract logicalDiskProperties(): Record<string, string>
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

export abstract class VendorInterface extends DriverInterface {
  readonly type = 'vendor'
  abstract methods(): Readonly<Record<string, VendorMethod>>
  driverMethods(): Readonly<Record<string, VendorMethod>> {
    return {}
  }
  /** Checks the body of a call before it runs. */
  abstract validateMethod(task: Task, method: string, httpMethod: string, info: JsonDict): Promise<void>
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
