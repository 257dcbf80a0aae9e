import type { FormatProbe } from './format-probe.ts'
import type { ImageFormat } from './format-table.ts'

/** VMware Virtual Disk Format 5.0: a sparse header of 64 bytes with an embedded descriptor, or a descriptor alone. */
const magic = 'KDMV'
const sector = 512
const headerLength = 64
const footerLength = 3 * sector
const longestDescriptor = 1024 * 1024 - 1
/** How much of a file is looked at to tell whether it is a descriptor alone. */
const firstLook = 4096
const directoryAtEnd = 0xffffffffffffffffn
const knownTypes = new Set(['monolithicsparse', 'streamoptimized'])

interface SparseHeader {
  readonly signature: string
  readonly version: number
  readonly capacity: bigint
  readonly descriptorSector: bigint
  readonly descriptorLength: bigint
  readonly directory: bigint
}

const sparseHeader = (bytes: Buffer): SparseHeader => ({
  signature: bytes.toString('latin1', 0, 4),
  version: bytes.readUInt32LE(4),
  capacity: bytes.readBigUInt64LE(12),
  descriptorSector: bytes.readBigUInt64LE(28),
  descriptorLength: bytes.readBigUInt64LE(36),
  directory: bytes.readBigUInt64LE(56),
})

interface Descriptor {
  readonly text: string
  /** `formatnotfound` when it does not tell */
  readonly type: string
}

/** Descriptors are ASCII, padded with zeros. */
function descriptorOf(bytes: Buffer): Descriptor | null {
  const end = bytes.indexOf(0)
  const data = end < 0 ? bytes : bytes.subarray(0, end)
  if (data.some((byte) => byte > 127)) return null
  const text = data.toString('latin1').toLowerCase()
  const type = /createtype="([^"]{0,63})"/.exec(text)?.[1]
  return { text, type: type ?? 'formatnotfound' }
}

const printable = (byte: number) =>
  (byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31)

/** A file without a sparse header that is text and says what kind of VMDK it describes. */
async function loneDescriptor(probe: FormatProbe): Promise<Descriptor | null> {
  if (probe.size < headerLength) return null
  const start = await probe.read(0, firstLook)
  if (!start.subarray(0, sector).every(printable)) return null
  const descriptor = descriptorOf(start)
  return descriptor?.type === 'formatnotfound' ? null : descriptor
}

const isSparse = async (probe: FormatProbe) => (await probe.read(0, 4)).toString('latin1') === magic

/** The descriptor within a sparse file; undefined when the file ends before it does, null when there is none to be used. */
async function embeddedDescriptor(probe: FormatProbe): Promise<Descriptor | null | undefined> {
  if (probe.size < headerLength) return undefined
  const head = sparseHeader(await probe.read(0, headerLength))
  if (![1, 2, 3].includes(head.version) || head.descriptorSector !== 1n) return null
  const length = Math.min(Number(head.descriptorLength) * sector, longestDescriptor)
  const bytes = await probe.read(sector, length)
  return bytes.length < length ? undefined : descriptorOf(bytes)
}

/** Lines that a descriptor may hold: header fields, the disk database, extents. */
function unsafeDescriptor({ text, type }: Descriptor): string | null {
  if (text === '') return 'it has no descriptor'
  if (!knownTypes.has(type)) return `its type ${type} is not supported`
  let extents = 0
  for (const line of text.split('\n').map((part) => part.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith('ddb')) continue
    if (line.includes('=') && !line.split('=')[0]!.includes(' ')) continue
    if (!['rw', 'rdonly', 'noaccess'].includes(line.split(' ')[0]!))
      return 'its descriptor has a line that is not known'
    if (line.includes('/')) return 'an extent of it is a file elsewhere'
    extents++
  }
  return extents === 0 ? 'its descriptor has no extents' : null
}

/** A stream-optimized file repeats its header at its end, between two markers. */
async function unsafeFooter(probe: FormatProbe, head: SparseHeader): Promise<string | null> {
  if (probe.size < footerLength) return 'it ends within its footer'
  const bytes = await probe.read(probe.size - footerLength, footerLength)
  const foot = sparseHeader(bytes.subarray(sector))
  if (
    foot.signature !== head.signature ||
    foot.version !== head.version ||
    foot.descriptorSector !== head.descriptorSector ||
    foot.descriptorLength !== head.descriptorLength
  ) {
    return 'its footer does not agree with its header'
  }
  if (foot.directory === directoryAtEnd) return 'its footer points to another footer'
  const marker = (at: number, type: number) =>
    bytes.readUInt32LE(at + 8) === 0 &&
    bytes.readUInt32LE(at + 12) === type &&
    bytes.subarray(at + 16, at + sector).every((byte) => byte === 0)
  const endOfStream = footerLength - sector
  if (!marker(0, 3)) return 'its footer marker is invalid'
  return bytes.readBigUInt64LE(endOfStream) === 0n && marker(endOfStream, 0) ? null : 'its end marker is invalid'
}

export const vmdk: ImageFormat = {
  async matches(probe) {
    return (await isSparse(probe)) || (await loneDescriptor(probe)) !== null
  },
  async virtualSize(probe) {
    if (!(await isSparse(probe))) return 0
    const descriptor = await embeddedDescriptor(probe)
    if (!descriptor || descriptor.text === '' || !knownTypes.has(descriptor.type)) return 0
    return Number(sparseHeader(await probe.read(0, headerLength)).capacity) * sector
  },
  async unsafe(probe) {
    if (!(await isSparse(probe))) return unsafeDescriptor((await loneDescriptor(probe)) ?? { text: '', type: '' })
    const descriptor = await embeddedDescriptor(probe)
    if (descriptor === undefined) return 'it ends within its headers'
    if (descriptor === null) return 'it has no descriptor'
    const problem = unsafeDescriptor(descriptor)
    if (problem !== null) return problem
    const head = sparseHeader(await probe.read(0, headerLength))
    return head.directory === directoryAtEnd ? await unsafeFooter(probe, head) : null
  },
}
