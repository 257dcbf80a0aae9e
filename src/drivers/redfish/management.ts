import { InvalidParameterValue } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import { NodeVerifyFailure } from '../../errors/node.ts'
import { bootOf, resetSystem } from '../../lib/redfish/computer-system.ts'
import { EthernetInterface } from '../../lib/redfish/resources.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { dropInternal, internal } from '../agent/internal-info.ts'
import { syncBootMode } from '../boot-mode.ts'
import type { NodePeriodic, StepSpec } from '../interfaces/base.ts'
import { type BootDevice, ManagementInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { setBmcClock, verifyBmcClock } from './bmc-clock.ts'
import { Bmcs } from './bmcs.ts'
import { bootDeviceOf, bootTargets, persistence, writeBootDevice } from './boot-device.ts'
import {
  bootModeNamed,
  bootModes,
  changeBootMode,
  changeSecureBoot,
  readSecureBoot,
  resetSecureBootKeys,
} from './boot-mode-change.ts'
import { redfishProperties } from './driver-info.ts'
import { checkedImages, updatePeriodics } from './firmware.ts'
import { FirmwareUpdates } from './firmware-updates.ts'
import { listIndicators, readIndicator, writeIndicator } from './indicators.ts'
import { ejectFrom, insertInto, mediaTypes, slotsOf } from './media.ts'
import { quirksOf } from './quirks.ts'
import { readSensors } from './sensors.ts'

const updatesKey = 'firmware_updates'

export class RedfishManagement extends ManagementInterface {
  readonly name: string = 'redfish'
  protected readonly bmcs: Bmcs
  private readonly updates: FirmwareUpdates

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
    this.updates = new FirmwareUpdates(parts, { key: updatesKey, finished: () => Promise.resolve() })
  }

  override properties() {
    return redfishProperties
  }

  async validate(task: Task): Promise<void> {
    this.bmcs.checkDriverInfo(task)
  }

  async supportedBootDevices(): Promise<string[]> {
    return Object.keys(bootTargets)
  }

  async setBootDevice(task: Task, device: string, persistent: boolean): Promise<void> {
    if (bootTargets[device] === undefined)
      throw new InvalidParameterValue(
        `${device} is no boot device; Redfish knows ${Object.keys(bootTargets).join(', ')}.`,
      )
    const httpBootUrl = internal(task.node, 'redfish_uefi_http_url')
    dropInternal(task.node, 'redfish_boot_device', 'redfish_uefi_http_url')
    await task.save()
    await this.bmcs.withSystem(task, `set the boot device to ${device}`, (system) =>
      writeBootDevice(task, system, device, persistent, typeof httpBootUrl === 'string' ? httpBootUrl : null),
    )
    if (quirksOf(task.node.properties?.['vendor']).losesBootMode === true) await syncBootMode(task)
  }

  async getBootDevice(task: Task): Promise<BootDevice> {
    return this.bmcs.withSystem(task, 'read the boot device', async (system) => {
      const boot = await bootOf(system)
      return {
        boot_device: bootDeviceOf(boot.BootSourceOverrideTarget),
        persistent: persistence[boot.BootSourceOverrideEnabled ?? ''] ?? null,
      }
    })
  }

  override async supportedBootModes(): Promise<string[]> {
    return Object.keys(bootModes)
  }

  override async setBootMode(task: Task, mode: string): Promise<void> {
    if (bootModes[mode] === undefined)
      throw new InvalidParameterValue(`${mode} is no boot mode; there are uefi and bios.`)
    await this.bmcs.withSystem(task, `set boot mode ${mode}`, (system) => changeBootMode(task, system, mode))
  }

  override async getBootMode(task: Task): Promise<string | null> {
    return this.bmcs.withSystem(task, 'read the boot mode', async (system) =>
      bootModeNamed((await bootOf(system)).BootSourceOverrideMode),
    )
  }

  override async getSecureBootState(task: Task): Promise<boolean> {
    const state = await this.bmcs.withSystem(task, 'read secure boot', (system) => readSecureBoot(task, system))
    // the API shows null for a BMC that has the resource but does not tell
    return state as boolean
  }

  override async setSecureBootState(task: Task, state: boolean): Promise<void> {
    await this.bmcs.withSystem(task, `set secure boot ${state ? 'on' : 'off'}`, (system) =>
      changeSecureBoot(task, system, state),
    )
  }

  override async injectNmi(task: Task): Promise<void> {
    await this.bmcs.withSystem(task, 'inject an NMI', (system) => resetSystem(system, 'Nmi'))
  }

  override async getSensorsData(task: Task): Promise<JsonDict> {
    return this.bmcs.withSystem(task, 'read the sensors', (system) => readSensors(task, system))
  }

  override async getNodeHealth(task: Task): Promise<string | null> {
    return (await this.bmcs.systemOf(task)).data.Status?.Health ?? null
  }

  override async supportedIndicators(task: Task, component: string | null) {
    return this.bmcs.withSystem(task, 'list the indicators', (system) => listIndicators(system, component))
  }

  override async getIndicatorState(task: Task, component: string, indicator: string): Promise<string> {
    return this.bmcs.withSystem(task, `read indicator ${indicator}`, (system) =>
      readIndicator(task, system, component, indicator),
    )
  }

  override async setIndicatorState(task: Task, component: string, indicator: string, state: string): Promise<void> {
    await this.bmcs.withSystem(task, `set indicator ${indicator} to ${state}`, (system) =>
      writeIndicator(task, system, component, indicator, state),
    )
  }

  /** The service root may name the maker; else the system does. */
  override async detectVendor(task: Task): Promise<string | null> {
    const root = await this.bmcs.connected(task, (bmc) => bmc.root())
    if (typeof root['Vendor'] === 'string' && root['Vendor'] !== '') return root['Vendor']
    return (await this.bmcs.systemOf(task)).data.Manufacturer ?? null
  }

  /** Addresses of the interfaces that are enabled, lower case. */
  override async getMacAddresses(task: Task): Promise<string[]> {
    return this.bmcs.withSystem(task, 'read the MAC addresses', async (system) => {
      const nics = await system.bmc.membersIfAny(EthernetInterface, system.data.EthernetInterfaces)
      const macs = nics
        .filter((nic) => nic.data.Status?.State === 'Enabled' && Boolean(nic.data.MACAddress))
        .map((nic) => nic.data.MACAddress!.toLowerCase().replaceAll('-', ':'))
      return [...new Set(macs)]
    })
  }

  override async attachVirtualMedia(task: Task, deviceType: string, imageUrl: string): Promise<void> {
    const media = mediaTypes[deviceType]
    if (media === undefined)
      throw new InvalidParameterValue(
        `${deviceType} is no virtual media device; there are ${Object.keys(mediaTypes).join(', ')}.`,
      )
    await this.bmcs.withSystem(task, `attach virtual media ${deviceType}`, (system) =>
      insertInto(task, system, media, { image: imageUrl }),
    )
  }

  override async detachVirtualMedia(task: Task, deviceTypes: readonly string[]): Promise<void> {
    await this.bmcs.withSystem(task, 'detach virtual media', async (system) => {
      const wanted = deviceTypes.length === 0 ? [null] : deviceTypes.map((type) => mediaTypes[type] ?? null)
      for (const media of new Set(wanted)) await ejectFrom(task, system, media)
    })
  }

  override async getVirtualMedia(task: Task): Promise<JsonDict[]> {
    return this.bmcs.withSystem(task, 'list virtual media', async (system) => {
      const slots = await slotsOf(system)
      if (slots.length === 0)
        throw new InvalidParameterValue(`The BMC of node ${task.node.uuid} has no virtual media slots.`)
      return slots.map((slot) => ({
        media_types: slot.data.MediaTypes ?? [],
        inserted: slot.data.Inserted ?? null,
        image: slot.data.Image ?? null,
      }))
    })
  }

  override steps(): readonly StepSpec[] {
    const resetKeys = (type: string) => (task: Task) =>
      this.bmcs.withSystem(task, 'reset the secure boot keys', (system) => resetSecureBootKeys(task, system, type))
    return [
      ...(['deploy', 'clean'] as const).flatMap((phase): StepSpec[] => [
        { phase, step: 'clear_secure_boot_keys', priority: 0, run: resetKeys('DeleteAllKeys') },
        { phase, step: 'reset_secure_boot_keys_to_default', priority: 0, run: resetKeys('ResetAllKeysToDefault') },
      ]),
      {
        phase: 'clean',
        step: 'set_bmc_clock',
        priority: 0,
        args: {
          target_datetime: {
            description: 'The time to set, in ISO 8601; the present time of the conductor when left out.',
            required: false,
          },
          datetime_local_offset: { description: 'The offset of local time from UTC, such as +02:00.', required: false },
        },
        run: (task, args) => this.setClock(task, args),
      },
      ...(['clean', 'service'] as const).map((phase): StepSpec => ({
        phase,
        step: 'update_firmware',
        priority: 0,
        args: {
          firmware_images: {
            description: 'A list of firmware images to apply, each with url and checksum.',
            required: true,
          },
        },
        run: (task, args) => this.updates.start(task, checkedImages(args['firmware_images'])),
      })),
      { phase: 'verify', step: 'verify_bmc_clock', priority: 1, run: (task) => this.verifyClock(task) },
    ]
  }

  override periodics(): readonly NodePeriodic[] {
    const { firmware_update_status_interval: status, firmware_update_fail_interval: fail } = this.parts.config.redfish
    return updatePeriodics(updatesKey, status, fail, this.updates)
  }

  private async setClock(task: Task, args: Readonly<Record<string, unknown>>): Promise<void> {
    const text = (name: string) => {
      const value = args[name]
      if (value === undefined || value === null) return null
      if (typeof value !== 'string')
        throw new InvalidParameterValue(`Argument ${name} of step set_bmc_clock must be a text.`)
      return value
    }
    await this.bmcs.withSystem(task, 'set the BMC clock', (system) =>
      setBmcClock(task, system, text('target_datetime'), text('datetime_local_offset')),
    )
  }

  private async verifyClock(task: Task): Promise<void> {
    if (!task.config.redfish.enable_verify_bmc_clock) return
    try {
      await this.bmcs.withSystem(task, 'check the BMC clock', (system) => verifyBmcClock(task, system))
    } catch (cause) {
      if (!(cause instanceof IronicError)) throw cause
      throw new NodeVerifyFailure({ node: task.node.uuid, reason: cause.message }, { cause })
    }
  }
}
