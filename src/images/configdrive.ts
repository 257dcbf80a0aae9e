import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import {
  configDriveFiles,
  type AttachedPort,
  networkDataIsInvalid,
  networkDataOf,
  type VifNetworkData,
} from '../domain/configdrive.ts'
import { InvalidContent } from '../errors/general.ts'
import { ConfigDriveRegenerationFailure } from '../errors/image.ts'
import { pythonJson } from '../lib/python/json-text.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Node } from '../objects/index.ts'
import { readIso } from './iso9660-reader.ts'
import { writeIso } from './iso9660-writer.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const label = 'config-2'
/** The agent writes a config drive to a partition of 64 MiB at most. */
const longestDrive = 64 * 1024 * 1024
const networkDataPath = 'openstack/latest/network_data.json'

async function packed(files: Readonly<Record<string, Buffer>>, created: Date): Promise<string> {
  const iso = writeIso(files, { label, publisher: 'Ironic', created })
  return (await compress(iso)).toString('base64')
}

const asBuffers = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, Buffer.from(text, 'utf8')]))

/**
 * The node's config drive as the agent takes it: base64 of a gzipped ISO 9660 image, or a URL.
 * @returns null when the instance has none
 */
export async function configDriveImage(node: Node, now: Date): Promise<string | null> {
  const drive: unknown = node.instance_info?.['configdrive']
  if (typeof drive === 'string' && drive !== '') return drive
  if (typeof drive !== 'object' || drive === null || Array.isArray(drive)) return null
  return await packed(asBuffers(configDriveFiles(node, drive as Record<string, unknown>)), now)
}

/** @throws InvalidContent when it is no base64 of a gzipped ISO, or grows beyond what a config drive may be */
async function unpacked(drive: string): Promise<Record<string, Buffer>> {
  let image: Buffer
  try {
    image = await decompress(Buffer.from(drive, 'base64'), { maxOutputLength: longestDrive })
  } catch (cause) {
    throw new InvalidContent('The config drive is no gzipped ISO image of at most 64 MiB.', { cause })
  }
  return readIso(image)
}

export interface RepairParts {
  readonly ports: readonly AttachedPort[]
  readonly portgroups: readonly Omit<AttachedPort, 'portgroup_id'>[]
  readonly describeVif: VifNetworkData
  /** false with `[conductor]disable_metadata_mtu_check` */
  readonly checkMtu: boolean
  readonly log: Logger
  readonly nodeUuid: string
  readonly now: Date
}

/**
 * Gives a config drive whose network data is missing or broken the data of the VIFs that are attached. What cannot be repaired
 * is left as it is: the instance may do without.
 */
export async function repairConfigDrive(configdrive: unknown, parts: RepairParts): Promise<unknown> {
  try {
    if (typeof configdrive === 'string')
      return configdrive.startsWith('http') ? configdrive : await repairedIso(configdrive, parts)
    if (typeof configdrive !== 'object' || configdrive === null) return configdrive
    const data = configdrive as Record<string, unknown>
    if (!networkDataIsInvalid(data['network_data'], parts.checkMtu)) return configdrive
    return { ...data, network_data: await newNetworkData(parts) }
  } catch (error) {
    if (!(error instanceof ConfigDriveRegenerationFailure) && !(error instanceof InvalidContent)) throw error
    parts.log.warning(`The config drive of node ${parts.nodeUuid} is left as it was given`, { error })
    return configdrive
  }
}

async function repairedIso(drive: string, parts: RepairParts): Promise<string> {
  const files = await unpacked(drive)
  const present = files[networkDataPath]
  if (present === undefined) throw new InvalidContent(`The config drive has no ${networkDataPath}.`)
  if (!networkDataIsInvalid(parsed(present), parts.checkMtu)) return drive
  const networkData = Buffer.from(pythonJson(await newNetworkData(parts)))
  return await packed({ ...files, [networkDataPath]: networkData }, parts.now)
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

async function newNetworkData({ ports, portgroups, describeVif, checkMtu }: RepairParts) {
  const data = await networkDataOf(ports, portgroups, describeVif)
  if (networkDataIsInvalid(data, checkMtu)) throw new ConfigDriveRegenerationFailure({})
  return data
}
