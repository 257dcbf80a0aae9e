import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ByteSource } from './byte-source.ts'

/** One partition; places in bytes. */
export interface Partition {
  readonly number: number
  readonly name: string
  /** type GUID (GPT) or type byte as two hex digits (MBR) */
  readonly type: string
  readonly start: number
  readonly size: number
}

export interface PartitionTable {
  readonly kind: 'gpt' | 'mbr'
  readonly partitions: readonly Partition[]
}

export const partitionTypes = {
  efi: 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b',
  linux: '0fc63daf-8483-4772-8e79-3d69d8477de4',
} as const

const sector = 512
const entryCount = 128
const entrySize = 128
/** Sectors of one copy of the entries. */
const tableSectors = (entryCount * entrySize) / sector

/** Reads the table of a disk (UEFI 2.10 section 5.3, or MBR); null when the disk has none. */
export async function readPartitionTable(disk: ByteSource): Promise<PartitionTable | null> {
  const start = await disk.read(0, sector * 2)
  if (start.length < sector * 2 || start.readUInt16LE(510) !== 0xaa55) return null
  if (start.toString('latin1', sector, sector + 8) === 'EFI PART') return readGpt(disk, start.subarray(sector))
  const partitions: Partition[] = []
  for (let n = 0; n < 4; n++) {
    const at = 446 + 16 * n
    const type = start[at + 4] ?? 0
    const size = start.readUInt32LE(at + 12) * sector
    if (type === 0 || size === 0) continue
    const hex = type.toString(16).padStart(2, '0')
    partitions.push({ number: n + 1, name: '', type: hex, start: start.readUInt32LE(at + 8) * sector, size })
  }
  return { kind: 'mbr', partitions }
}

async function readGpt(disk: ByteSource, header: Buffer): Promise<PartitionTable | null> {
  const headerSize = header.readUInt32LE(12)
  if (headerSize < 92 || headerSize > sector) return null
  const copy = Buffer.from(header.subarray(0, headerSize))
  copy.writeUInt32LE(0, 16)
  if (crc32(copy) !== header.readUInt32LE(16)) return null
  const count = header.readUInt32LE(80)
  const size = header.readUInt32LE(84)
  if (count > 1024 || size < 128 || size > 4096) return null
  const entries = await disk.read(Number(header.readBigUInt64LE(72)) * sector, count * size)
  if (crc32(entries) !== header.readUInt32LE(88)) return null
  const partitions: Partition[] = []
  for (let n = 0; n < count; n++) {
    const entry = entries.subarray(n * size, (n + 1) * size)
    if (entry.subarray(0, 16).every((byte) => byte === 0)) continue
    const first = Number(entry.readBigUInt64LE(32))
    const last = Number(entry.readBigUInt64LE(40))
    const name = entry.toString('utf16le', 56, 128).replace(/\0.*$/s, '')
    const place = { start: first * sector, size: (last - first + 1) * sector }
    partitions.push({ number: n + 1, name, type: guidText(entry.subarray(0, 16)), ...place })
  }
  return { kind: 'gpt', partitions }
}

/** A piece to be written to a disk. */
export interface Piece {
  readonly offset: number
  readonly bytes: Buffer
}

/** The protective MBR, both headers and both copies of the entries, for a disk of `diskSize` bytes. */
export function gptPieces(diskSize: number, partitions: readonly Partition[], diskGuid = randomBytes(16)): Piece[] {
  const total = Math.floor(diskSize / sector)
  const entries = Buffer.alloc(entryCount * entrySize)
  for (const partition of partitions) {
    const entry = entries.subarray((partition.number - 1) * entrySize, partition.number * entrySize)
    guidBytes(partition.type).copy(entry, 0)
    randomBytes(16).copy(entry, 16)
    entry.writeBigUInt64LE(BigInt(partition.start / sector), 32)
    entry.writeBigUInt64LE(BigInt((partition.start + partition.size) / sector - 1), 40)
    entry.write(partition.name, 56, 72, 'utf16le')
  }
  const mbr = Buffer.alloc(sector)
  mbr.set([0x00, 0x00, 0x02, 0x00, 0xee, 0xff, 0xff, 0xff], 446) // not active, start CHS 0/0/2, GPT, end CHS beyond
  mbr.writeUInt32LE(1, 454)
  mbr.writeUInt32LE(Math.min(total - 1, 0xffffffff), 458)
  mbr.writeUInt16LE(0xaa55, 510)
  const header = (own: number, other: number, table: number) => {
    const bytes = Buffer.alloc(sector)
    bytes.write('EFI PART', 0, 'latin1')
    bytes.writeUInt32LE(0x00010000, 8)
    bytes.writeUInt32LE(92, 12)
    bytes.writeBigUInt64LE(BigInt(own), 24)
    bytes.writeBigUInt64LE(BigInt(other), 32)
    bytes.writeBigUInt64LE(BigInt(2 + tableSectors), 40)
    bytes.writeBigUInt64LE(BigInt(total - tableSectors - 2), 48)
    diskGuid.copy(bytes, 56)
    bytes.writeBigUInt64LE(BigInt(table), 72)
    bytes.writeUInt32LE(entryCount, 80)
    bytes.writeUInt32LE(entrySize, 84)
    bytes.writeUInt32LE(crc32(entries), 88)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 92)), 16)
    return bytes
  }
  const last = total - 1
  return [
    { offset: 0, bytes: Buffer.concat([mbr, header(1, last, 2), entries]) },
    { offset: (last - tableSectors) * sector, bytes: Buffer.concat([entries, header(last, 1, last - tableSectors)]) },
  ]
}

/**
 * Places a new partition of `size` bytes at the end of the disk, as `sgdisk -e -n 0:-64MiB:0` or parted would.
 * @throws Error when there is no room for it
 */
export function placeAtEnd(diskSize: number, table: PartitionTable, size: number, name: string): Partition {
  const mebibyte = 1024 * 1024
  const end = table.kind === 'gpt' ? diskSize - (tableSectors + 1) * sector : diskSize
  const start = Math.floor((end - size) / mebibyte) * mebibyte
  const used = Math.max(0, ...table.partitions.map((partition) => partition.start + partition.size))
  const limit = table.kind === 'gpt' ? entryCount : 4
  const number = Array.from({ length: limit }, (_, n) => n + 1).find(
    (candidate) => !table.partitions.some((partition) => partition.number === candidate),
  )
  if (start < used || number === undefined)
    throw new Error(`there is no room for the partition ${name} of ${size} bytes`)
  return { number, name, type: table.kind === 'gpt' ? partitionTypes.linux : '83', start, size }
}

/** The piece that adds a partition to an MBR. */
export function mbrEntryPiece(partition: Partition): Piece {
  const bytes = Buffer.alloc(16)
  bytes[4] = Number.parseInt(partition.type, 16)
  bytes.writeUInt32LE(partition.start / sector, 8)
  bytes.writeUInt32LE(partition.size / sector, 12)
  return { offset: 446 + 16 * (partition.number - 1), bytes }
}

/** A GUID as its bytes on disk: the first three groups are little-endian. */
function guidBytes(text: string): Buffer {
  const hex = Buffer.from(text.replaceAll('-', ''), 'hex')
  return Buffer.concat([
    hex.subarray(0, 4).reverse(),
    hex.subarray(4, 6).reverse(),
    hex.subarray(6, 8).reverse(),
    hex.subarray(8),
  ])
}

function guidText(bytes: Buffer): string {
  const copy = Buffer.from(bytes)
  const parts = [copy.subarray(0, 4).reverse(), copy.subarray(4, 6).reverse(), copy.subarray(6, 8).reverse()]
  const tail = copy.toString('hex', 8, 16)
  return [...parts.map((part) => part.toString('hex')), tail.slice(0, 4), tail.slice(4)].join('-')
}
