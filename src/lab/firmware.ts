import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import type { Dispatcher } from 'undici'
import type { BootOverride, Machine, Running } from './machine.ts'
import { bootFromCd, kernelCommand, kernelParameters } from './media/boot-config.ts'
import type { KernelCommand } from './media/boot-config.ts'
import { openUrl } from './media/byte-source.ts'
import type { ByteSource } from './media/byte-source.ts'
import { IsoReader } from './media/iso-reader.ts'
import { markerPrefix } from './media/sample-image.ts'

/** What the firmware needs of the world outside the machine. */
export interface FirmwareParts {
  readonly http: Dispatcher
  /** a folder for downloads of servers that know no ranges; one per machine below it */
  readonly directory: string
  /** where DHCP sends iPXE: the base URL of the boot files (`boot.ipxe`, `pxelinux.cfg/…`); null when nobody answers */
  readonly networkBoot: string | null
}

/** Most bytes of a boot script. */
const scriptLimit = 64 * 1024

/**
 * Does what firmware does: takes the boot source that the override names, else the disk.
 * @throws Error with what the screen would say when nothing boots
 */
export async function findBoot(
  parts: FirmwareParts,
  machine: Machine,
  boot: Readonly<BootOverride>,
  signal: AbortSignal,
): Promise<Running> {
  const target = boot.enabled === 'Disabled' ? 'Hdd' : boot.target
  machine.say(`firmware: boot from ${target} (${boot.mode})`)
  switch (target) {
    case 'Cd':
    case 'Usb':
      return { kind: 'ramdisk', kernel: await fromMedium(parts, machine, target, boot, signal) }
    case 'UefiHttp':
      if (boot.uri === null) throw new Error('UEFI HTTP boot without HttpBootUri')
      return { kind: 'ramdisk', kernel: await fromUrl(parts, machine, boot.uri, boot, signal) }
    case 'Pxe':
      return { kind: 'ramdisk', kernel: await fromNetwork(parts, machine, signal) }
    case 'None':
    case 'Hdd':
      return await fromDisk(machine)
    case 'BiosSetup':
      return { kind: 'nothing', reason: 'the machine shows its firmware settings' }
    default:
      throw new Error(`the firmware does not know the boot source ${target}`)
  }
}

async function fromMedium(
  parts: FirmwareParts,
  machine: Machine,
  target: string,
  boot: Readonly<BootOverride>,
  signal: AbortSignal,
): Promise<KernelCommand> {
  const slot = machine.media.find((candidate) => candidate.id === target)
  if (slot === undefined || slot.image === null) throw new Error(`no medium in the drive ${target}`)
  return await fromUrl(parts, machine, slot.image, boot, signal)
}

async function fromUrl(
  parts: FirmwareParts,
  machine: Machine,
  url: string,
  boot: Readonly<BootOverride>,
  signal: AbortSignal,
): Promise<KernelCommand> {
  const directory = join(parts.directory, machine.identity.name)
  await mkdir(directory, { recursive: true })
  const source = await openUrl(url, { dispatcher: parts.http, signal, directory })
  try {
    return await bootFromCd(await IsoReader.open(source), boot.mode === 'UEFI' ? 'uefi' : 'bios')
  } finally {
    await source.close()
    await rm(join(directory, 'medium'), { force: true })
  }
}

/** iPXE: the script for this network card, then the kernel that it names. */
async function fromNetwork(parts: FirmwareParts, machine: Machine, signal: AbortSignal): Promise<KernelCommand> {
  if (parts.networkBoot === null) throw new Error('no DHCP server answers')
  const base = parts.networkBoot.replace(/\/$/, '')
  const script = await text(`${base}/pxelinux.cfg/${machine.identity.mac.replaceAll(':', '-')}`, parts.http, signal)
  const found = /^\s*kernel\s+(?:--\S+\s+)*(\S+)\s*(.*?)(?:\s*\|\|.*|\s*&&.*)?$/m.exec(script)
  if (found === null) throw new Error('the iPXE script starts no kernel')
  const [, kernel = '', rest = ''] = found
  const line = rest.replaceAll('${mac}', machine.identity.mac)
  const ramdisk = /^\s*initrd\s+(?:--\S+\s+(?:\S+\s+)?)*(\S+:\/\/\S+)/m.exec(script)?.[1]
  for (const url of [kernel, ...(ramdisk === undefined ? [] : [ramdisk])]) {
    const answer = await request(url, { dispatcher: parts.http, signal, method: 'HEAD' })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  }
  const words = line.split(/\s+/).filter((word) => word !== '')
  return (
    kernelCommand(`linux ${kernel} ${words.join(' ')}`) ?? {
      kernel,
      ramdisks: [],
      line,
      parameters: kernelParameters(words),
    }
  )
}

async function text(url: string, dispatcher: Dispatcher, signal: AbortSignal): Promise<string> {
  const answer = await request(url, { dispatcher, signal })
  const body = Buffer.from(await answer.body.arrayBuffer())
    .subarray(0, scriptLimit)
    .toString('utf8')
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  return body
}

/** Reads the disk as a booting system would: a partition table, the marker of the root, the config drive. */
async function fromDisk(machine: Machine): Promise<Running> {
  const table = await machine.disk.partitions()
  if (table === null || table.partitions.length === 0) throw new Error('no bootable device')
  let marker: string | null = null
  let hostname: string | null = null
  for (const partition of table.partitions) {
    const piece = partitionSource(machine.disk, partition.start, partition.size)
    const head = (await piece.read(0, 512)).toString('utf8')
    if (head.startsWith(markerPrefix)) marker = head.slice(markerPrefix.length).split('\n')[0] ?? ''
    hostname ??= await configDriveHostname(piece)
  }
  return { kind: 'system', marker, hostname }
}

function partitionSource(disk: ByteSource, start: number, size: number): ByteSource {
  return {
    size,
    read: (offset, length) => disk.read(start + offset, Math.max(0, Math.min(length, size - offset))),
    close: () => Promise.resolve(),
  }
}

/** null when the partition is no config drive */
async function configDriveHostname(partition: ByteSource): Promise<string | null> {
  const signature = await partition.read(16 * 2048, 6)
  if (signature.toString('latin1', 1, 6) !== 'CD001') return null
  const iso = await IsoReader.open(partition)
  if (iso.label.toLowerCase() !== 'config-2') return null
  const entry = await iso.find('/openstack/latest/meta_data.json')
  if (entry === undefined) return null
  const metadata: unknown = JSON.parse((await iso.read(entry)).toString('utf8'))
  if (typeof metadata !== 'object' || metadata === null) return null
  if ('hostname' in metadata && typeof metadata.hostname === 'string') return metadata.hostname
  return 'name' in metadata && typeof metadata.name === 'string' ? metadata.name : null
}
