import type { FormatProbe } from './format-probe.ts'
import type { ImageFormat } from './format-table.ts'

/** [MS-VHDX] 2.2.3 and 2.6: region table, metadata table, and the metadata item that holds the size. */
const regionTableAt = 192 * 1024
const tableLength = 64 * 1024
const mostEntries = 2047
const entryLength = 32
const metadataRegion = '8b7ca206-4790-4b9a-b8fe-575f050f886e'
const virtualDiskSize = '2fa54224-cd1b-4876-b211-5dbed83bf4b8'

/** Microsoft's order of bytes. */
function guidAt(bytes: Buffer, offset: number): string {
  const digits = (length: number, value: number) => value.toString(16).padStart(length * 2, '0')
  const head = [
    digits(4, bytes.readUInt32LE(offset)),
    digits(2, bytes.readUInt16LE(offset + 4)),
    digits(2, bytes.readUInt16LE(offset + 6)),
  ]
  const tail = bytes.subarray(offset + 8, offset + 16).toString('hex')
  return `${head.join('-')}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

function entryOf(table: Buffer, first: number, count: number, guid: string): Buffer | undefined {
  for (let at = first; at < first + count * entryLength && at + entryLength <= table.length; at += entryLength) {
    if (guidAt(table, at) === guid) return table.subarray(at, at + entryLength)
  }
  return undefined
}

interface Layout {
  /** the tables that the image claims to have are all there */
  readonly whole: boolean
  readonly size: number
}

async function layout(probe: FormatProbe): Promise<Layout> {
  const nothing = { whole: true, size: 0 }
  const regions = await probe.read(regionTableAt, tableLength)
  if (probe.size < 32 || regions.length < tableLength) return { whole: false, size: 0 }
  const count = regions.readUInt32LE(8)
  if (regions.toString('latin1', 0, 4) !== 'regi' || count > mostEntries) return nothing
  const region = entryOf(regions, 16, count, metadataRegion)
  if (region === undefined) return nothing
  const metadataAt = Number(region.readBigUInt64LE(16))
  const metadata = await probe.read(metadataAt, tableLength)
  const whole = metadata.length === tableLength
  if (metadata.length < entryLength || metadata.toString('latin1', 0, 8) !== 'metadata') return { whole, size: 0 }
  const items = metadata.readUInt16LE(10)
  if (items > mostEntries || metadata.length < entryLength * (items + 1)) return { whole, size: 0 }
  const item = entryOf(metadata, entryLength, items, virtualDiskSize)
  if (item === undefined) return { whole, size: 0 }
  const length = Math.min(item.readUInt32LE(20), tableLength)
  const value = await probe.read(metadataAt + item.readUInt32LE(16), length)
  return { whole: value.length === length, size: value.length < 8 ? 0 : Number(value.readBigUInt64LE()) }
}

export const vhdx: ImageFormat = {
  async matches(probe) {
    return (await probe.read(0, 8)).toString('latin1') === 'vhdxfile'
  },
  async virtualSize(probe) {
    return (await layout(probe)).size
  },
  async unsafe(probe) {
    return (await layout(probe)).whole ? null : 'it ends within its headers'
  },
}
