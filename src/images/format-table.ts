import type { FormatProbe } from './format-probe.ts'
import { vmdk } from './format-vmdk.ts'
import { vhdx } from './format-vhdx.ts'

/** How an image format is told, measured, and checked for what would make a converter read other files. */
export interface ImageFormat {
  matches(probe: FormatProbe): Promise<boolean>
  /** bytes of the disk inside */
  virtualSize(probe: FormatProbe): Promise<number>
  /** Why the image must not be touched; null when it may be. An image that ends within its own headers is unsafe. */
  unsafe(probe: FormatProbe): Promise<string | null>
}

const cutShort = 'it ends within its headers'

/** Any of those at the start. */
const beginsWith = (magic: string | Buffer, neededLength = magic.length) => {
  const bytes = Buffer.from(magic as string, 'latin1')
  return async (probe: FormatProbe) => probe.size >= neededLength && (await probe.read(0, bytes.length)).equals(bytes)
}

const numberAt = async (probe: FormatProbe, offset: number, read: (piece: Buffer) => number | bigint) => {
  const piece = await probe.read(offset, 8)
  return piece.length < 8 ? 0 : Number(read(piece))
}

const header = 512
const needsHeader = (probe: FormatProbe) => Promise.resolve(probe.size < header ? cutShort : null)

/** Incompatible feature bits that are known to stay within the file: dirty, corrupt, compression type. */
const allowedQcow2Features = 0b1011n
const qcow2DataFile = 0b0100n

const qcow2: ImageFormat = {
  matches: beginsWith('QFI\xfb', header),
  virtualSize: (probe) => numberAt(probe, 24, (piece) => piece.readBigUInt64BE()),
  async unsafe(probe) {
    const start = await probe.read(0, header)
    if (start.readBigUInt64BE(8) !== 0n) return 'it has a backing file'
    const features = start.readBigUInt64BE(72)
    if (features & qcow2DataFile) return 'it has an external data file'
    const version = start.readUInt32BE(4)
    if (version === 2) return null
    if (version !== 3) return `it is QCOW version ${version}, only 2 and 3 are known`
    return features & ~allowedQcow2Features ? 'it uses unknown QCOW2 features' : null
  },
}

const qed: ImageFormat = {
  matches: beginsWith('QED\0', header),
  virtualSize: (probe) => Promise.resolve(probe.size),
  unsafe: () => Promise.resolve('QED images are never accepted'),
}

const vhd: ImageFormat = {
  matches: beginsWith('conectix'),
  virtualSize: (probe) =>
    probe.size < header ? Promise.resolve(0) : numberAt(probe, 40, (piece) => piece.readBigUInt64BE()),
  unsafe: needsHeader,
}

const vdi: ImageFormat = {
  async matches(probe) {
    return probe.size >= header && (await probe.read(64, 4)).readUInt32LE() === 0xbeda107f
  },
  virtualSize: (probe) => numberAt(probe, 368, (piece) => piece.readBigUInt64LE()),
  unsafe: needsHeader,
}

/** ECMA-119: the first volume descriptor, after 16 sectors of system area. */
const isoDescriptor = 32 * 1024
const iso: ImageFormat = {
  async matches(probe) {
    if (probe.size < isoDescriptor + 2048) return false
    return ['CD001', 'NSR02', 'NSR03'].includes((await probe.read(isoDescriptor + 1, 5)).toString('latin1'))
  },
  async virtualSize(probe) {
    const descriptor = await probe.read(isoDescriptor, 132)
    return descriptor[0] === 1 ? descriptor.readUInt32LE(80) * descriptor.readUInt16LE(128) : 0
  },
  unsafe: () => Promise.resolve(null),
}

const gptPartitionType = 0xee

/** Anything with a boot sector signature, unless it is a FAT file system: disks with an MBR too. */
const gpt: ImageFormat = {
  async matches(probe) {
    if (probe.size < header) return false
    const sector = await probe.read(0, header)
    const fat = sector[16] === 2 && sector[21] === 0xf8
    return sector.readUInt16LE(510) === 0xaa55 && !fat
  },
  virtualSize: (probe) => Promise.resolve(probe.size),
  async unsafe(probe) {
    const sector = await probe.read(0, header)
    const used: number[] = []
    let protective = false
    for (let index = 0; index < 4; index++) {
      const entry = sector.subarray(446 + 16 * index, 462 + 16 * index)
      if (entry[0] !== 0 && entry[0] !== 0x80) return `partition ${index} of its MBR has an invalid boot flag`
      if (entry[4] !== 0) used.push(index)
      if (entry[4] !== gptPartitionType) continue
      protective = true
      if (entry[1] !== 0 || entry[2] !== 2 || entry[3] !== 0) return 'the protective MBR has an invalid start CHS'
      if (entry.readUInt32LE(8) !== 1) return 'the protective MBR has an invalid start LBA'
    }
    if (protective && (used.length !== 1 || used[0] !== 0)) return 'the protective MBR defines extra partitions'
    return used.length === 0 ? 'its MBR has no partitions' : null
  },
}

const luks: ImageFormat = {
  matches: beginsWith('LUKS\xba\xbe'),
  async virtualSize(probe) {
    const start = await probe.read(0, 168)
    return start.length < 168 ? 0 : probe.size - start.readUInt32BE(104) * 512
  },
  async unsafe(probe) {
    if (probe.size < 592) return cutShort
    const version = (await probe.read(6, 2)).readUInt16BE()
    return version === 1 ? null : `it is LUKS version ${version}, only 1 is known`
  },
}

/** All formats but `raw`, which is what fits none of them. */
export const imageFormats: Readonly<Record<string, ImageFormat>> = {
  qcow2,
  vhd,
  vhdx,
  vmdk,
  vdi,
  qed,
  iso,
  gpt,
  luks,
}
