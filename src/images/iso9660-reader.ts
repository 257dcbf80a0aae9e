import { posix } from 'node:path'
import { InvalidContent } from '../errors/general.ts'
import { sectorSize } from './iso9660-writer.ts'

/** Reads the files of a small ISO 9660 image that somebody else made: every number in it is doubted. */

const mostEntries = 10_000
const deepest = 16

const broken = (what: string) => new InvalidContent(`The ISO image cannot be read: ${what}.`)

interface FoundRecord {
  readonly name: string
  readonly extent: number
  readonly length: number
  readonly isFolder: boolean
}

/** Rock Ridge: the alternate names of a record, its system use area after `skipped` bytes. */
function rockRidgeName(area: Buffer): string | undefined {
  let name: string | undefined
  for (let at = 0; at + 4 <= area.length;) {
    const length = area[at + 2]!
    if (length < 4 || at + length > area.length) break
    const signature = area.toString('latin1', at, at + 2)
    if (signature === 'ST') break
    if (signature === 'NM' && length >= 5 && (area[at + 4]! & 6) === 0) {
      name = (name ?? '') + area.toString('utf8', at + 5, at + length)
    }
    at += length
  }
  return name
}

const jolietName = (identifier: Buffer) =>
  Buffer.from(identifier.subarray(0, identifier.length & ~1))
    .swap16()
    .toString('utf16le')

function recordsOf(image: Buffer, extent: number, length: number, joliet: boolean): FoundRecord[] {
  const start = extent * sectorSize
  if (start + length > image.length) throw broken('a folder lies beyond its end')
  const records: FoundRecord[] = []
  for (let at = start; at < start + length;) {
    const size = image[at]!
    // the rest of a sector is empty
    if (size === 0) {
      at = (Math.floor(at / sectorSize) + 1) * sectorSize
      continue
    }
    if (size < 34 || at + size > start + length) throw broken('a folder has a malformed record')
    const record = image.subarray(at, at + size)
    at += size
    const nameLength = record[32]!
    const identifier = record.subarray(33, 33 + nameLength)
    if (nameLength === 1 && identifier[0]! <= 1) continue
    const systemUse = record.subarray(33 + nameLength + (nameLength % 2 === 0 ? 1 : 0))
    const plain = joliet ? jolietName(identifier) : identifier.toString('latin1')
    records.push({
      name: (joliet ? undefined : rockRidgeName(systemUse)) ?? plain.replace(/\.?;\d+$/, ''),
      extent: record.readUInt32LE(2),
      length: record.readUInt32LE(10),
      isFolder: (record[25]! & 2) !== 0,
    })
  }
  return records
}

/**
 * May an entry of an image be taken out below a folder?
 * @param path of its folder within the image; no leading slash
 * @throws InvalidContent when folder or name lead elsewhere
 */
export function checkIsoPath(path: string, name: string | null = null): void {
  const base = '/base'
  const refuse = () => broken(`it has an entry ${JSON.stringify(`${path}/${name ?? ''}`)}, which leads out of it`)
  const folder = posix.normalize(posix.join(base, path))
  if (path.startsWith('/') || path.includes('\0') || !(folder === base || folder.startsWith(`${base}/`))) throw refuse()
  if (name === null || name === '') return
  const file = `${folder.replace(/\/$/, '')}/${name}`
  if (name.startsWith('/') || name.includes('\0') || posix.normalize(file) !== file) throw refuse()
}

/** One name that stays where it is. */
function checkedName(name: string): string {
  if (name === '' || name === '.' || /[/\\]/.test(name)) throw broken(`it has an entry named ${JSON.stringify(name)}`)
  checkIsoPath('', name)
  return name
}

/**
 * The files of an image, by path: Joliet names when there are some, else Rock Ridge or plain ones.
 * @throws InvalidContent for an image that is malformed or tries to lead out of itself
 */
export function readIso(image: Buffer): Record<string, Buffer> {
  const { descriptor, joliet } = volumeOf(image)
  const files: Record<string, Buffer> = {}
  let entries = 0
  const walk = (extent: number, length: number, path: string, depth: number) => {
    if (depth > deepest) throw broken('its folders are nested too deep')
    for (const record of recordsOf(image, extent, length, joliet)) {
      if (++entries > mostEntries) throw broken('it has too many entries')
      const inside = `${path}${checkedName(record.name)}`
      if (record.isFolder) {
        walk(record.extent, record.length, `${inside}/`, depth + 1)
        continue
      }
      const start = record.extent * sectorSize
      if (start + record.length > image.length) throw broken(`${inside} lies beyond its end`)
      files[inside] = image.subarray(start, start + record.length)
    }
  }
  walk(descriptor.readUInt32LE(158), descriptor.readUInt32LE(166), '', 0)
  return files
}

function volumeOf(image: Buffer): { descriptor: Buffer; joliet: boolean } {
  let primary: Buffer | undefined
  for (let at = 16 * sectorSize; at + sectorSize <= image.length; at += sectorSize) {
    const descriptor = image.subarray(at, at + sectorSize)
    if (descriptor.toString('latin1', 1, 6) !== 'CD001' || descriptor[0] === 255) break
    if (descriptor[0] === 1) primary = descriptor
    const escape = descriptor.toString('latin1', 88, 91)
    if (descriptor[0] === 2 && ['%/@', '%/C', '%/E'].includes(escape)) return { descriptor, joliet: true }
  }
  if (primary === undefined) throw broken('it has no volume descriptor')
  return { descriptor: primary, joliet: false }
}
