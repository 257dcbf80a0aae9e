import { booleanOr } from '../../domain/booleans.ts'
import { newAgentToken } from '../../agent/token.ts'
import { InstanceDeployFailure } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue, UnsupportedHardwareFeature } from '../../errors/driver.ts'
import { checkShare } from '../../images/share.ts'
import { bootOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { isObject } from '../../lib/redfish/shape.ts'
import type { Insertion, MediaSlot, MediaType } from '../../lib/redfish/virtual-media.ts'
import { dropInternal, internal, setInternal } from '../agent/internal-info.ts'
import { disableSecureBootIfAsked, enableSecureBootIfAsked, syncBootMode } from '../boot-mode.ts'
import {
  agentIso,
  agentKernelAndRamdisk,
  bootNicMac,
  bootOptionOf,
  bootsRamdiskNow,
  instanceImageInfo,
  needsAgent,
  ramdiskModeOf,
} from '../boot-source.ts'
import { BootInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { BootImages } from './boot-images.ts'
import { bootProperties } from './boot-properties.ts'
import { ejectFrom, insertInto, slotsOf, type SlotRule, takes } from './media.ts'

/** What both ways of booting an ISO have in common: its preparation, and the checks. */
abstract class IsoBoot extends BootInterface {
  protected readonly bmcs: Bmcs
  protected readonly images: BootImages

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
    this.images = new BootImages(parts)
  }

  override properties() {
    return bootProperties
  }

  async validate(task: Task): Promise<void> {
    this.checkDriverInfo(task)
    await this.checkInstanceInfo(task)
  }

  override async validateInspection(task: Task): Promise<void> {
    this.checkDriverInfo(task)
  }

  override async validateRescue(task: Task): Promise<void> {
    this.checkDriverInfo(task)
  }

  /** @throws MissingParameterValue when there is nothing to boot the agent from */
  protected checkDriverInfo(task: Task): void {
    const mode = ramdiskModeOf(task.node)
    if (!needsAgent(task.node, mode, task.config)) return
    this.bmcs.checkDriverInfo(task)
    if (agentIso(task, mode, 'redfish') !== null) return
    const { kernel, ramdisk } = agentKernelAndRamdisk(task, mode)
    const missing = [...(kernel ? [] : [`${mode}_kernel`]), ...(ramdisk ? [] : [`${mode}_ramdisk`])]
    if (missing.length > 0)
      throw new MissingParameterValue(
        `Node ${task.node.uuid} has nothing to boot the agent from: set ${missing.join(' and ')} in its driver_info, or ${mode}_iso.`,
      )
  }

  protected async checkInstanceInfo(task: Task): Promise<void> {
    if (bootOptionOf(task.node) === 'local' || !(await task.driver.storage.shouldWriteImage(task))) return
    instanceImageInfo(task.node)
  }

  /** Parameters for the agent beside those of the flow. The token goes along where it stays within the medium. */
  protected async agentParameters(
    task: Task,
    given: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const parameters: Record<string, string> = { ...given }
    const mac = await bootNicMac(task)
    if (mac !== null) parameters['BOOTIF'] = mac
    if (task.config.DEFAULT.debug) parameters['ipa-debug'] ??= '1'
    parameters['boot_method'] = 'vmedia' // the agent then looks for its configuration in the medium
    if (!this.canTellAgent(task)) return parameters
    const token = newAgentToken()
    setInternal(task.node, { agent_secret_token: token, agent_secret_token_pregenerated: true })
    await task.save()
    return { ...parameters, 'ipa-agent-token': token }
  }

  /** Can anything be told to the agent by its medium? Not by a ready-made ISO alone. */
  protected canTellAgent(task: Task): boolean {
    return agentIso(task, ramdiskModeOf(task.node), 'redfish') === null
  }

  /** Does the instance boot from its own disk? Then nothing of ours is needed. */
  protected async bootsFromDisk(task: Task): Promise<boolean> {
    const { node } = task
    const option = bootOptionOf(node)
    if (option === 'local' || Boolean(internal(node, 'is_whole_disk_image'))) return true
    if (option === 'ramdisk') return false
    if (internal(node, 'root_uuid_or_disk_id') || !(await task.driver.storage.shouldWriteImage(task))) return false
    task.log.warning(`The root partition of node ${node.uuid} is not known; it boots from disk`)
    return true
  }

  protected rootUuid(task: Task): string | null {
    const uuid = bootOptionOf(task.node) === 'ramdisk' ? null : internal(task.node, 'root_uuid_or_disk_id')
    return typeof uuid === 'string' && uuid !== '' ? uuid : null
  }
}

/** Boots ISOs as virtual CDs of the BMC. */
export class RedfishVirtualMediaBoot extends IsoBoot {
  readonly name: string = 'redfish-virtual-media'
  override readonly capabilities: readonly string[] = ['iscsi_volume_boot', 'ramdisk_boot', 'ramdisk_boot_configdrive']

  async prepareRamdisk(task: Task, given: Readonly<Record<string, string>>): Promise<void> {
    const { node } = task
    if (!bootsRamdiskNow(node)) return
    this.checkDriverInfo(task)
    this.checkVendor(task)
    if (await task.isFastTrack()) {
      if (await this.hasInserted(task)) return
      task.log.warning(`The agent of node ${node.uuid} could go on, but its medium is gone; it is booted anew`)
    }
    const parameters = await this.agentParameters(task, given)
    await task.powerAction('power off')
    if (this.configByRemovable(task)) await this.insertParameters(task, parameters)
    await this.bmcs.withSystem(task, 'choose a transport for virtual media', (system) =>
      this.chooseTransport(task, system),
    )
    const url = await this.images.agentIso(task, ramdiskModeOf(node), parameters)
    await this.insertCd(task, url)
    await syncBootMode(task)
    await this.setBootDevice(task, 'cdrom', false)
  }

  async cleanUpRamdisk(task: Task): Promise<void> {
    if (await task.isFastTrack()) return
    await task.powerAction('power off')
    await this.ejectAll(task)
  }

  async prepareInstance(task: Task): Promise<void> {
    await this.ejectAll(task)
    await syncBootMode(task)
    await enableSecureBootIfAsked(task)
    if (await this.bootsFromDisk(task)) return this.setBootDevice(task, 'disk', true)
    await this.bmcs.withSystem(task, 'choose a transport for virtual media', (system) =>
      this.chooseTransport(task, system),
    )
    const url = await this.images.instanceIso(task, this.rootUuid(task))
    await this.insertCd(task, url)
    if (bootOptionOf(task.node) === 'ramdisk') await this.attachConfigDrive(task)
    await this.setBootDevice(task, 'cdrom', true)
  }

  async cleanUpInstance(task: Task): Promise<void> {
    await this.ejectAll(task)
    await disableSecureBootIfAsked(task)
  }

  /** Hook of variants: makers whose BMCs this interface does not fit. @throws InvalidParameterValue */
  protected checkVendor(_task: Task): void {}

  /** Hook of variants: which slots may be used. */
  protected slotRule(_task: Task, _system: SystemResource): Promise<SlotRule> {
    return Promise.resolve(() => true)
  }

  /** Hook of variants: how the BMC is told to boot from a medium. */
  protected setBootDevice(task: Task, device: string, persistent: boolean): Promise<void> {
    return task.setBootDevice(device, persistent)
  }

  protected override canTellAgent(task: Task): boolean {
    return super.canTellAgent(task) || this.configByRemovable(task)
  }

  private configByRemovable(task: Task): boolean {
    const info = task.node.driver_info ?? {}
    return booleanOr(info['config_via_removable'] ?? info['config_via_floppy'])
  }

  private async insertParameters(task: Task, parameters: Readonly<Record<string, string>>): Promise<void> {
    const media = await this.bmcs.withSystem(task, 'look for a removable device', async (system) => {
      const slots = await slotsOf(system)
      return (['USBStick', 'Floppy'] as const).find((type) => slots.some((slot) => takes(slot, type))) ?? null
    })
    if (media === null) {
      task.log.warning(`Node ${task.node.uuid} asks for config_via_removable, but its BMC has no USB or floppy slot`)
      return
    }
    const url = await this.images.parametersImage(task, parameters)
    await this.insert(task, media, { image: url })
  }

  private async insertCd(task: Task, image: string): Promise<void> {
    const wish: unknown = task.node.driver_info?.['vmedia_transport_protocol']
    const chosen = String(internal(task.node, 'vmedia_transport_protocol') ?? 'HTTP')
    const { cifs } = task.config
    const credentials =
      chosen === 'CIFS' || chosen === 'SMB' ? { username: cifs.username, password: cifs.password } : {}
    await this.insert(task, 'CD', { image, ...credentials, ...(wish ? { transferProtocol: chosen } : {}) })
  }

  private insert(task: Task, media: MediaType, insertion: Insertion): Promise<void> {
    return this.bmcs.withSystem(task, `insert virtual media ${media}`, async (system) =>
      insertInto(task, system, media, insertion, await this.slotRule(task, system)),
    )
  }

  private hasInserted(task: Task): Promise<boolean> {
    return this.bmcs.withSystem(task, 'look at virtual media', async (system) =>
      (await slotsOf(system)).some((slot) => takes(slot, 'CD') && slot.data.Inserted === true),
    )
  }

  /** HTTP, unless `driver_info.vmedia_transport_protocol` wishes for another that the BMC knows. @throws InvalidParameterValue */
  private async chooseTransport(task: Task, system: SystemResource): Promise<void> {
    const wish: unknown = task.node.driver_info?.['vmedia_transport_protocol']
    let chosen = 'HTTP'
    if (typeof wish === 'string' && wish !== '') {
      chosen = wish.toUpperCase()
      const known = new Set([
        'HTTP',
        ...(await slotsOf(system)).filter((slot) => takes(slot, 'CD')).flatMap(transportsOf),
      ])
      if (!known.has(chosen))
        throw new InvalidParameterValue(
          `vmedia_transport_protocol of node ${task.node.uuid} is ${chosen}, but its BMC takes ${[...known].sort().join(', ')} only.`,
        )
      if (chosen === 'NFS') checkShare(task.config, 'nfs')
      if (chosen === 'CIFS' || chosen === 'SMB') checkShare(task.config, 'cifs')
    }
    setInternal(task.node, { vmedia_transport_protocol: chosen })
    await task.save()
  }

  private async attachConfigDrive(task: Task): Promise<void> {
    const url = await this.images.configDriveImage(task)
    if (url === null) return
    try {
      await this.insert(task, 'USBStick', { image: url })
    } catch (cause) {
      if (!(cause instanceof InvalidParameterValue)) throw cause
      throw new InstanceDeployFailure(
        { reason: `the configuration drive cannot be attached: ${cause.message}` },
        { cause },
      )
    }
  }

  /** All media of ours out, and their files away. */
  private async ejectAll(task: Task): Promise<void> {
    const kinds: (MediaType | null)[] = ['CD']
    const removable = this.configByRemovable(task)
    const drive = bootOptionOf(task.node) === 'ramdisk' && Boolean(task.node.instance_info?.['configdrive'])
    if (removable || drive) kinds.push('USBStick')
    if (removable) kinds.push('Floppy')
    await this.bmcs.withSystem(task, 'take virtual media out', async (system) => {
      for (const kind of kinds) await ejectFrom(task, system, kind)
    })
    if (removable) await this.images.removeParametersImage(task)
    if (drive) await this.images.removeConfigDrive(task)
    await this.images.removeIso(task)
  }
}

/** What a slot says of the protocols by which it reads images. */
function transportsOf(slot: MediaSlot): string[] {
  const own = slot.json['TransferProtocolType']
  const inAction = slot.action('#VirtualMedia.InsertMedia')?.allowable['TransferProtocolType'] ?? []
  return [...(Array.isArray(own) ? own : [own]), ...inAction]
    .filter((protocol): protocol is string => typeof protocol === 'string' && protocol !== '')
    .map((protocol) => protocol.toUpperCase())
}

/** Boots ISOs by UEFI HTTP boot: the firmware of the machine fetches them, and needs DHCP. */
export class RedfishHttpsBoot extends IsoBoot {
  readonly name: string = 'redfish-https'
  override readonly capabilities: readonly string[] = ['ramdisk_boot']

  override async validate(task: Task): Promise<void> {
    await this.bmcs.withSystem(task, 'check for UEFI HTTP boot', async (system) => {
      const boot = await bootOf(system)
      const offered = boot['BootSourceOverrideTarget@Redfish.AllowableValues']
      if (offered?.includes('UefiHttp') !== true || !isObject(system.json['Boot']))
        throw new UnsupportedHardwareFeature({ node: task.node.uuid, feature: 'UefiHttp boot' })
    })
    await super.validate(task)
  }

  async prepareRamdisk(task: Task, given: Readonly<Record<string, string>>): Promise<void> {
    if (!bootsRamdiskNow(task.node)) return
    this.checkDriverInfo(task)
    if (await task.isFastTrack()) return
    const parameters = await this.agentParameters(task, given)
    await task.powerAction('power off')
    dropInternal(task.node, 'vmedia_transport_protocol')
    const url = await this.images.agentIso(task, ramdiskModeOf(task.node), parameters)
    await syncBootMode(task)
    await this.bootFrom(task, url, false)
  }

  async cleanUpRamdisk(task: Task): Promise<void> {
    if (await task.isFastTrack()) return
    await this.images.removeIso(task)
  }

  async prepareInstance(task: Task): Promise<void> {
    await this.images.removeIso(task)
    await syncBootMode(task)
    await enableSecureBootIfAsked(task)
    if (await this.bootsFromDisk(task)) return task.setBootDevice('disk', true)
    await this.bootFrom(task, await this.images.instanceIso(task, this.rootUuid(task)), true)
  }

  async cleanUpInstance(task: Task): Promise<void> {
    await this.images.removeIso(task)
    await disableSecureBootIfAsked(task)
  }

  /** The management interface takes the address from the node when it sets the device. */
  private async bootFrom(task: Task, url: string, persistent: boolean): Promise<void> {
    setInternal(task.node, { redfish_uefi_http_url: url })
    await task.save()
    await task.setBootDevice('uefihttp', persistent)
  }
}
