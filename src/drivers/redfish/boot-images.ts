import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { bootModeOf } from '../../domain/boot-mode.ts'
import {
  kernelAppendParams,
  type KernelCommandLine,
  kernelParameter,
  parseKernelCommandLine,
} from '../../domain/kernel-parameters.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { BootFiles } from '../../images/boot-files.ts'
import { buildBootIso, type InjectedFile } from '../../images/boot-iso.ts'
import { buildParametersImage } from '../../images/parameters-image.ts'
import { bmcPublisherSettings, Publisher } from '../../images/publisher.ts'
import { configDriveImage } from '../../images/configdrive.ts'
import { Images } from '../../images/images.ts'
import { RemoteImages } from '../../images/remote-images.ts'
import { sharePublisher, type ShareProtocol } from '../../images/share.ts'
import { agentIso, agentKernelAndRamdisk, bootloaderOf, bootOptionOf, type RamdiskMode } from '../boot-source.ts'
import type { DriverParts, Task } from '../task.ts'

const tlsFile = 'etc/ironic-python-agent/ironic.crt'
const tlsConfig = `[DEFAULT]\ncafile = /${tlsFile}\n`
/** Above this a configuration drive is no such thing. */
const maxConfigDriveBytes = 64 * 1024 * 1024

interface IsoRequest {
  readonly kernel: string | null
  readonly ramdisk: string | null
  readonly bootloader: string | null
  /** a ready-made ISO, passed through */
  readonly iso: string | null
  readonly rootUuid?: string | null
  readonly parameters: Readonly<Record<string, string>>
  readonly inject: readonly InjectedFile[]
}

/** Boot images of nodes: built, published, and taken away again. */
export class BootImages {
  private readonly parts: DriverParts
  private readonly files: BootFiles
  private readonly remote: RemoteImages

  constructor(parts: DriverParts) {
    const images = parts.shared.of(Images, parts)
    this.parts = parts
    this.files = new BootFiles(parts.config, images)
    this.remote = new RemoteImages(parts.config, images)
  }

  /**
   * The ISO that boots the agent.
   * @param parameters for the kernel command line; those of the address are replaced by `[deploy]external_callback_url`
   * @returns the URL to give to the BMC
   */
  async agentIso(task: Task, mode: RamdiskMode, parameters: Readonly<Record<string, string>>): Promise<string> {
    return this.isoFor(task, {
      ...agentKernelAndRamdisk(task, mode),
      bootloader: bootloaderOf(task),
      iso: agentIso(task, mode, 'redfish'),
      parameters: withExternalCallback(task, parameters),
      inject: await this.agentFiles(task),
    })
  }

  /** The ISO that boots the instance: `boot_iso`, or kernel and ramdisk of `instance_info`. */
  async instanceIso(task: Task, rootUuid: string | null): Promise<string> {
    const info = task.node.instance_info ?? {}
    const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
    const [kernel, ramdisk, iso] = [text(info['kernel']), text(info['ramdisk']), text(info['boot_iso'])]
    if (iso === null && (kernel === null || ramdisk === null))
      throw new InvalidParameterValue(
        `instance_info of node ${task.node.uuid} has neither boot_iso nor both kernel and ramdisk; they are not read from Glance here.`,
      )
    return this.isoFor(task, {
      kernel,
      ramdisk,
      iso,
      bootloader: bootloaderOf(task),
      rootUuid,
      parameters: {},
      inject: [],
    })
  }

  /** A floppy or USB image with the parameters of the agent, for BMCs whose ISO cannot carry them. */
  async parametersImage(task: Task, parameters: Readonly<Record<string, string>>): Promise<string> {
    return this.inFolder(task, (folder) =>
      this.publisher().publish(
        `image-${task.node.uuid}`,
        '.img',
        (path) => buildParametersImage(path, withExternalCallback(task, parameters), folder, task.signal),
        externalUrl(task),
      ),
    )
  }

  /** The configuration drive of the instance as an image for a USB slot; null when it has none. */
  async configDriveImage(task: Task): Promise<string | null> {
    const content = await configDriveImage(task.node, this.parts.clock.now())
    if (content === null) return null
    return this.inFolder(task, async (folder) => {
      const packed = join(folder, 'configdrive.gz')
      const remote = content.includes('://')
      if (remote) {
        const source = await this.files.at(content, join(folder, 'configdrive'), task.signal)
        return this.publisher().publishFile(`configdrive-${task.node.uuid}`, '.img', source, externalUrl(task))
      }
      await writeFile(packed, Buffer.from(content, 'base64'), { mode: 0o600 })
      return this.publisher().publish(
        `configdrive-${task.node.uuid}`,
        '.img',
        (path) => unpack(packed, path, task.signal),
        externalUrl(task),
      )
    })
  }

  /** Takes away what was published for the node to boot from. */
  async removeIso(task: Task): Promise<void> {
    await this.publisher().withdraw(`boot-${task.node.uuid}`)
    const protocol = shareOf(task)
    if (protocol !== null) await sharePublisher(this.parts.config, protocol).withdraw(`boot-${task.node.uuid}`)
  }

  async removeParametersImage(task: Task): Promise<void> {
    await this.publisher().withdraw(`image-${task.node.uuid}`)
  }

  async removeConfigDrive(task: Task): Promise<void> {
    await this.publisher().withdraw(`configdrive-${task.node.uuid}`)
  }

  private publisher(): Publisher {
    return new Publisher(bmcPublisherSettings(this.parts.config))
  }

  private async isoFor(task: Task, request: IsoRequest): Promise<string> {
    const { node, config } = task
    const stem = `boot-${node.uuid}`
    const bootsInstance = node.provision_state === 'deploying' && bootOptionOf(node) === 'ramdisk'
    if (request.iso !== null) {
      const own: unknown = bootsInstance ? node.instance_info?.['ramdisk_image_download_source'] : null
      const source = typeof own === 'string' && own !== '' ? own : config.deploy.ramdisk_image_download_source
      if (request.inject.length > 0)
        task.log.warning(`Node ${node.uuid} boots the ready-made ISO ${request.iso}; nothing can be put into it`)
      return this.remote.addressFor({
        href: request.iso,
        stem,
        extension: '.iso',
        source,
        externalUrl: externalUrl(task),
        signal: task.signal,
      })
    }
    if (!request.kernel || !request.ramdisk)
      throw new InvalidParameterValue(
        `No kernel and ramdisk are known to build a boot image for node ${node.uuid} from, and no ISO.`,
      )
    return this.inFolder(task, (folder) => this.build(task, request, folder, stem, bootsInstance))
  }

  private async build(
    task: Task,
    request: IsoRequest,
    folder: string,
    stem: string,
    bootsInstance: boolean,
  ): Promise<string> {
    const { config, signal } = task
    const publisherId = bootsInstance ? null : randomUUID()
    const bootMode = bootModeOf(task.node, config.deploy.default_boot_mode)
    const commandLine = commandLineFor(task, request, publisherId, bootsInstance)
    const kernel = await this.files.at(request.kernel!, join(folder, 'kernel'), signal)
    const ramdisk = await this.files.at(request.ramdisk!, join(folder, 'ramdisk'), signal)
    const esp = await this.espFor(task, request, bootMode, folder)
    const write = (output: string) =>
      buildBootIso(config, {
        kernel,
        ramdisk,
        bootMode,
        commandLine,
        esp,
        output,
        publisherId,
        signal,
        inject: request.inject,
        workFolder: folder,
      })
    const share = shareOf(task)
    if (share !== null) return sharePublisher(config, share).publish(stem, '.iso', write)
    return this.publisher().publish(stem, '.iso', write, externalUrl(task))
  }

  private async espFor(task: Task, request: IsoRequest, bootMode: string, folder: string): Promise<string | null> {
    if (bootMode !== 'uefi') return null
    if (request.bootloader !== null) return this.files.at(request.bootloader, join(folder, 'esp'), task.signal)
    return task.config.DEFAULT.esp_image
  }

  /** What the agent finds in its medium beside itself: the CA of this API, and the networks of a node without DHCP. */
  private async agentFiles(task: Task): Promise<InjectedFile[]> {
    const { agent, inspector } = task.config
    const files: InjectedFile[] = []
    if (agent.api_ca_file) {
      files.push({ target: tlsFile, source: agent.api_ca_file })
      files.push({ target: 'etc/ironic-python-agent.d/ironic-tls.conf', source: Buffer.from(tlsConfig) })
    }
    const inspecting = task.node.provision_state === 'inspecting' || task.node.provision_state === 'inspect wait'
    if (inspecting && inspector.force_dhcp) return files
    const networkData = await task.driver.network.nodeNetworkData(task)
    if (Object.keys(networkData).length > 0)
      files.push({
        target: 'openstack/latest/network_data.json',
        source: Buffer.from(JSON.stringify(networkData, null, 2)),
      })
    return files
  }

  private async inFolder<T>(task: Task, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(task.config.DEFAULT.tempdir, 'ironic-boot-'))
    try {
      return await work(folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

const externalUrl = (task: Task): string | null => {
  const own: unknown = task.node.driver_info?.['external_http_url']
  return typeof own === 'string' && own !== '' ? own : null
}

const shareOf = (task: Task): ShareProtocol | null => {
  const protocol = String(task.node.driver_internal_info?.['vmedia_transport_protocol'] ?? '').toUpperCase()
  return protocol === 'NFS' ? 'nfs' : protocol === 'CIFS' || protocol === 'SMB' ? 'cifs' : null
}

/** Machines outside may need to call this API by another address. */
function withExternalCallback(task: Task, parameters: Readonly<Record<string, string>>): Record<string, string> {
  const outside = task.config.deploy.external_callback_url?.replace(/\/+$/, '')
  if (!outside) return { ...parameters }
  const { 'ipa-inspection-callback-url': inspection, ...others } = parameters
  const endpoint = '/continue_inspection'
  return {
    ...others,
    'ipa-api-url': outside,
    ...(inspection !== undefined && {
      'ipa-inspection-callback-url': inspection.endsWith(endpoint)
        ? `${outside}${outside.endsWith('/v1') ? '' : '/v1'}${endpoint}`
        : inspection,
    }),
  }
}

/** @throws InvalidParameterValue when a parameter could break out of the line */
function commandLineFor(
  task: Task,
  request: IsoRequest,
  publisherId: string | null,
  bootsInstance: boolean,
): KernelCommandLine | string {
  const { config, node } = task
  const disableParsing = config.conductor.disable_kernel_parameter_parsing
  const appended: unknown = bootsInstance
    ? node.instance_info?.['ramdisk_kernel_arguments']
    : kernelAppendParams(node, config.redfish.kernel_append_params, { disableParsing })
  const words = [
    ...(bootsInstance ? [kernelParameter('root', '/dev/ram0'), 'text'] : []),
    ...(publisherId === null ? [] : [kernelParameter('ir_pub_id', publisherId)]),
    ...(request.rootUuid ? [kernelParameter('root', `UUID=${request.rootUuid}`)] : []),
    ...Object.entries(request.parameters).map(([name, value]) => kernelParameter(name, value)),
    ...(typeof appended === 'string' ? [appended] : []),
  ]
  const text = words.join(' ').trim()
  return disableParsing ? text : parseKernelCommandLine(text)
}

async function unpack(source: string, path: string, signal: AbortSignal): Promise<void> {
  let size = 0
  const limit = async function* (parts: AsyncIterable<Buffer>) {
    for await (const part of parts) {
      size += part.length
      if (size > maxConfigDriveBytes)
        throw new InvalidParameterValue(`The configuration drive unpacks to more than ${maxConfigDriveBytes} bytes.`)
      yield part
    }
  }
  try {
    await pipeline(createReadStream(source), createGunzip(), limit, createWriteStream(path, { mode: 0o600 }), {
      signal,
    })
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || !String(cause.code).startsWith('Z_')) throw cause
    throw new InvalidParameterValue('The configuration drive is not gzip in base64.', { cause })
  }
}
