import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { request } from 'undici'
import type { Dispatcher } from 'undici'
import type { Machine } from '../machine.ts'
import { AgentError } from './errors.ts'
import { blockDevice, fitsRootDevice } from './inventory.ts'

const run = promisify(execFile)
const decompress = promisify(gunzip)

/** `image_info` of the write_image step, the fields that the agent reads. */
export interface ImageInfo {
  readonly id: string
  readonly urls: readonly string[]
  readonly checksum?: string | null
  readonly os_hash_algo?: string | null
  readonly os_hash_value?: string | null
  readonly disk_format?: string | null
  readonly image_type?: string | null
  readonly stream_raw_images?: boolean
  readonly configdrive?: string | null
  readonly node_uuid?: string
  readonly image_server_auth_strategy?: string
  readonly image_server_user?: string
  readonly image_server_password?: string
  readonly image_request_authorization?: string
}

export interface ImageParts {
  readonly machine: Machine
  readonly http: Dispatcher
  readonly signal: AbortSignal
  /** where downloads that must be converted lie for a while */
  readonly directory: string
  readonly md5: boolean
  readonly permittedFormats: readonly string[]
  /** `properties.root_device` of the node */
  readonly rootDevice: unknown
}

/** How often a download is tried again. */
const retries = 9

/** @throws AgentError InvalidCommandParamsError when something needed is missing */
export function checkImageInfo(value: unknown, md5: boolean): ImageInfo {
  const refuse = (text: string) => new AgentError('InvalidCommandParamsError', text)
  const info: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {}
  for (const field of ['id', 'urls']) if (info[field] === undefined) throw refuse(`Image is missing '${field}' field.`)
  const urls = info['urls']
  if (!Array.isArray(urls) || urls.length === 0) throw refuse("Image 'urls' must be a list with at least one element.")
  const { checksum, os_hash_algo: algorithm, os_hash_value: hash } = info
  const text = (field: unknown) => typeof field === 'string' && field !== ''
  if (checksum !== undefined && checksum !== null && !text(checksum))
    throw refuse("Image 'checksum' must be a non-empty string.")
  if ((algorithm ?? hash) !== undefined && (algorithm ?? hash) !== null && !(text(algorithm) && text(hash))) {
    throw refuse("Image 'os_hash_algo' must be a non-empty string.")
  }
  const usable = typeof checksum === 'string' && (md5 || checksum.length > 32 || /^https?:/.test(checksum))
  if (!usable && !text(hash)) {
    throw refuse(
      "Image checksum is not available, either the 'checksum' field or the 'os_hash_algo' and 'os_hash_value' fields pair must be set for image verification.",
    )
  }
  return info as unknown as ImageInfo
}

/**
 * Fetches the image, checks it, writes it to the disk, and adds the config drive.
 * @returns the disk identifier as the agent tells it (`0x…`)
 */
export async function writeImage(parts: ImageParts, info: ImageInfo, configdrive: string | null): Promise<string> {
  const { machine } = parts
  if (!fitsRootDevice(blockDevice(machine), parts.rootDevice)) {
    throw new AgentError(
      'DeviceNotFound',
      `No suitable device was found for deployment using these hints ${JSON.stringify(parts.rootDevice)}`,
    )
  }
  if (info.image_type === 'partition') {
    throw new AgentError(
      'CommandExecutionError',
      'partition images cannot be written by the agent of the lab; use a whole-disk image',
    )
  }
  if (info.disk_format === 'raw' && info.stream_raw_images === true) {
    await verified(parts, info, (body) => stream(parts, body), '/dev/sda')
  } else {
    await downloadAndConvert(parts, info)
  }
  const table = await machine.disk.partitions()
  if (table === null || table.partitions.length === 0) {
    throw new AgentError('DeploymentError', 'No partitions found on the device /dev/sda after writing the image.')
  }
  await machine.disk.moveBackupTable()
  if (configdrive !== null) {
    await machine.disk.addPartition('config-2', await configDriveContent(parts, configdrive))
  }
  const identifier = (await machine.disk.read(440, 4)).readUInt32LE(0)
  return `0x${identifier.toString(16).padStart(8, '0')}`
}

type Consumer = (body: AsyncIterable<Buffer>) => AsyncIterable<Buffer>

/** Fetches the image as often as the agent does, until what was consumed has the right checksum. */
async function verified(parts: ImageParts, info: ImageInfo, consume: Consumer, location: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { algorithm, expected } = await expectedHash(parts, info)
      const hash = createHash(algorithm)
      const body = await download(parts, info, info.urls[0] ?? '')
      for await (const chunk of consume(body)) hash.update(chunk)
      const found = hash.digest('hex')
      if (found === expected.toLowerCase()) return
      throw new AgentError(
        'ImageChecksumError',
        `Image failed to verify against checksum. location: ${info.id}; image ID: ${location}; image checksum: ${expected}; verification checksum: ${found}`,
      )
    } catch (error) {
      parts.signal.throwIfAborted()
      const final =
        error instanceof AgentError
          ? error
          : new AgentError(
              'ImageDownloadError',
              `Download of image ${info.id} failed: ${error instanceof Error ? error.message : String(error)}`,
              { cause: error },
            )
      if (attempt >= retries || final instanceof FatalDownload) throw final
      parts.machine.say(`agent: image download failed, ${attempt} of ${retries}: ${final.details}`)
      await sleep(parts.machine.timings.downloadPause, undefined, { signal: parts.signal })
    }
  }
}

/** A 4xx: asking again does not help. */
class FatalDownload extends AgentError {
  constructor(details: string) {
    super('ImageDownloadError', details)
  }
}

async function download(parts: ImageParts, info: ImageInfo, url: string): Promise<AsyncIterable<Buffer>> {
  const headers: Record<string, string> = { 'User-Agent': 'python-requests/2.32.5', Accept: '*/*' }
  if (typeof info.image_request_authorization === 'string') {
    headers['Authorization'] = Buffer.from(info.image_request_authorization, 'base64').toString('utf8')
  } else if (info.image_server_auth_strategy === 'http_basic') {
    const pair = `${info.image_server_user ?? ''}:${info.image_server_password ?? ''}`
    headers['Authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const answer = await request(url, { dispatcher: parts.http, signal: parts.signal, headers, bodyTimeout: 60_000 })
  if (answer.statusCode !== 200) {
    const text = (await answer.body.text()).slice(0, 500)
    const details = `Download of image ${info.id} failed: Received status code ${answer.statusCode} from ${url}, expected 200. Response body: ${text}`
    throw answer.statusCode < 500 ? new FatalDownload(details) : new AgentError('ImageDownloadError', details)
  }
  return answer.body as AsyncIterable<Buffer>
}

async function expectedHash(parts: ImageParts, info: ImageInfo): Promise<{ algorithm: string; expected: string }> {
  if (typeof info.os_hash_algo === 'string' && typeof info.os_hash_value === 'string') {
    return { algorithm: info.os_hash_algo, expected: info.os_hash_value }
  }
  let checksum = info.checksum ?? ''
  if (/^https?:\/\//.test(checksum)) {
    const parts2: Buffer[] = []
    for await (const chunk of await download(parts, info, checksum)) parts2.push(chunk)
    checksum = checksumIn(Buffer.concat(parts2).toString('utf8'), basename(new URL(info.urls[0] ?? '').pathname))
  }
  const algorithm = { 32: 'md5', 64: 'sha256', 128: 'sha512' }[checksum.length]
  if (algorithm === undefined || (algorithm === 'md5' && !parts.md5)) {
    throw new FatalDownload(`Download of image ${info.id} failed: Unable to verify the checksum ${checksum}`)
  }
  return { algorithm, expected: checksum }
}

/** The checksum of one file in a checksum file, whatever its style. */
function checksumIn(text: string, name: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const filled = lines.filter((line) => line !== '')
  const [only] = filled
  if (filled.length === 1 && only !== undefined && !only.includes(' ')) return only
  const hex = /\b([0-9a-fA-F]{128}|[0-9a-fA-F]{64}|[0-9a-fA-F]{32})\b/
  const found = filled.find((line) => !line.startsWith('#') && (line.endsWith(name) || line.includes(`(${name})`)))
  const checksum = found === undefined ? undefined : hex.exec(found)?.[1]
  if (checksum === undefined) throw new FatalDownload(`Checksum file does not contain name ${name}`)
  return checksum
}

/** Writes what comes straight to the disk. */
async function* stream(parts: ImageParts, body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { disk } = parts.machine
  await disk.discard()
  let offset = 0
  for await (const chunk of body) {
    await disk.write(offset, chunk, { fresh: true })
    offset += chunk.length
    yield chunk
  }
}

async function downloadAndConvert(parts: ImageParts, info: ImageInfo): Promise<void> {
  const path = join(parts.directory, `${parts.machine.identity.name}.image`)
  const raw = `${path}.raw`
  try {
    await verified(parts, info, (body) => toFile(path, body), path)
    const format = await detectedFormat(path)
    if (
      info.disk_format !== undefined &&
      info.disk_format !== null &&
      format !== info.disk_format &&
      !(format === 'raw' && info.disk_format === 'gpt')
    ) {
      throw new AgentError(
        'InvalidImage',
        `Requested image format ${info.disk_format} and detected image format ${format} do not match`,
      )
    }
    if (format !== 'raw' && !parts.permittedFormats.includes(format)) {
      throw new AgentError(
        'InvalidImage',
        `Image format ${format} is not in the list of permitted formats ${parts.permittedFormats.join(', ')}`,
      )
    }
    const source = format === 'raw' ? path : raw
    if (format !== 'raw')
      await run('qemu-img', ['convert', '-f', format, '-O', 'raw', path, raw], { signal: parts.signal })
    await parts.machine.disk.discard()
    let offset = 0
    for await (const chunk of createReadStream(source, {
      highWaterMark: 1024 * 1024,
      signal: parts.signal,
    }) as AsyncIterable<Buffer>) {
      await parts.machine.disk.write(offset, chunk, { fresh: true })
      offset += chunk.length
    }
  } finally {
    await Promise.all([rm(path, { force: true }), rm(raw, { force: true })])
  }
}

async function* toFile(path: string, body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const file = await open(path, 'w', 0o600)
  try {
    for await (const chunk of body) {
      await file.write(chunk)
      yield chunk
    }
  } finally {
    await file.close()
  }
}

async function detectedFormat(path: string): Promise<string> {
  const head: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: 511 }) as AsyncIterable<Buffer>) head.push(chunk)
  const start = Buffer.concat(head)
  if (start.length >= 8 && start.readUInt32BE(0) === 0x514649fb) return 'qcow2'
  if (start.toString('latin1', 0, 4) === 'KDMV') return 'vmdk'
  if (start.toString('latin1', 0, 8) === 'vhdxfile') return 'vhdx'
  return 'raw'
}

/** The config drive: base64 of a gzipped ISO, or a URL where that is. */
async function configDriveContent(parts: ImageParts, configdrive: string): Promise<Buffer> {
  let bytes: Buffer
  if (/^https?:\/\//.test(configdrive)) {
    const chunks: Buffer[] = []
    for await (const chunk of await download(parts, { id: 'configdrive', urls: [configdrive] }, configdrive))
      chunks.push(chunk)
    bytes = Buffer.from(Buffer.concat(chunks).toString('latin1'), 'base64')
  } else {
    bytes = Buffer.from(configdrive, 'base64')
  }
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? await decompress(bytes) : bytes
}
