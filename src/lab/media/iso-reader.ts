import type { ByteSource } from './byte-source.ts'

/** One entry of a directory of an ISO 9660 file system (ECMA-119 section 9.1), with its Rock Ridge name if it has one. */
export interface IsoEntry {
  readonly name: string
  readonly directory: boolean
  /** first logical block, of 2048 bytes */
  readonly extent: number
  /** bytes */
  readonly size: number
}

/** One boot image of the El Torito catalogue. */
export interface BootImage {
  /** 0 for BIOS, 0xef for EFI */
  readonly platform: number
  readonly bootable: boolean
  /** first logical block, of 2048 bytes */
  readonly extent: number
}

const block = 2048

/** Reads an ISO 9660 image: primary volume, Rock Ridge names, El Torito catalogue. Files of several extents are not read. */
export class IsoReader {
  readonly #source: ByteSource
  readonly #root: IsoEntry
  /** volume identifier of the primary volume */
  readonly label: string
  readonly #catalogue: number | null

  private constructor(source: ByteSource, root: IsoEntry, label: string, catalogue: number | null) {
    this.#source = source
    this.#root = root
    this.label = label
    this.#catalogue = catalogue
  }

  /** @throws Error when there is no primary volume descriptor, or the image is shorter than its volume says */
  static async open(source: ByteSource): Promise<IsoReader> {
    let primary: Buffer | undefined
    let catalogue: number | null = null
    for (let at = 16; at < 64; at++) {
      const descriptor = await source.read(at * block, block)
      if (descriptor.length < block || descriptor.toString('latin1', 1, 6) !== 'CD001') break
      const kind = descriptor[0]
      if (kind === 1 && primary === undefined) primary = descriptor
      if (kind === 0 && descriptor.toString('latin1', 7, 30) === 'EL TORITO SPECIFICATION') {
        catalogue = descriptor.readUInt32LE(71)
      }
      if (kind === 255) break
    }
    if (primary === undefined) throw new Error('this is no ISO 9660 image: it has no primary volume descriptor')
    const told = primary.readUInt32LE(80) * block
    if (told > source.size) throw new Error(`the ISO image is cut off: ${source.size} bytes of ${told}`)
    const root = entryAt(primary, 156)
    return new IsoReader(source, root, primary.toString('latin1', 40, 72).trimEnd(), catalogue)
  }

  /** The entries of a directory, without `.` and `..`. */
  async list(directory: IsoEntry = this.#root): Promise<IsoEntry[]> {
    const bytes = await this.#source.read(directory.extent * block, directory.size)
    const entries: IsoEntry[] = []
    for (let at = 0; at < bytes.length;) {
      const length = bytes[at] ?? 0
      if (length === 0) {
        at = (Math.floor(at / block) + 1) * block // records never cross a block
        continue
      }
      const entry = entryAt(bytes, at)
      if (entry.name !== '') entries.push({ ...entry, name: (await this.#rockRidgeName(bytes, at)) ?? entry.name })
      at += length
    }
    return entries
  }

  /** The entry of a path, compared without case; undefined when there is none. */
  async find(path: string): Promise<IsoEntry | undefined> {
    let entry: IsoEntry | undefined = this.#root
    for (const part of path.split('/').filter((name) => name !== '')) {
      if (entry?.directory !== true) return undefined
      const entries: IsoEntry[] = await this.list(entry)
      entry = entries.find((other) => other.name.toLowerCase() === part.toLowerCase())
    }
    return entry
  }

  /** The bytes of a file, or of the piece asked for. */
  async read(entry: IsoEntry, offset = 0, length = entry.size - offset): Promise<Buffer> {
    const bytes = await this.#source.read(entry.extent * block + offset, length)
    if (bytes.length !== length) throw new Error(`the file ${entry.name} is cut off in the ISO image`)
    return bytes
  }

  /** Boot images of the El Torito catalogue (El Torito 1.0 section 2); empty when the image cannot be booted. */
  async bootImages(): Promise<BootImage[]> {
    if (this.#catalogue === null) return []
    const bytes = await this.#source.read(this.#catalogue * block, block)
    if (bytes[0] !== 1 || bytes.readUInt16LE(30) !== 0xaa55) return []
    const images: BootImage[] = [bootImage(bytes, 32, bytes[1] ?? 0)]
    for (let at = 64; at + 64 <= bytes.length;) {
      const header = bytes[at]
      if (header !== 0x90 && header !== 0x91) break
      const platform = bytes[at + 1] ?? 0
      const count = bytes.readUInt16LE(at + 2)
      for (let n = 1; n <= count; n++) images.push(bootImage(bytes, at + 32 * n, platform))
      at += 32 * (count + 1)
      if (header === 0x91) break
    }
    return images
  }

  /** The first bytes of a boot image. */
  bootImageBytes(image: BootImage, length: number): Promise<Buffer> {
    return this.#source.read(image.extent * block, length)
  }

  /** The alternate name of a directory record (Rock Ridge 1.12 section 4.1.4), following continuation areas. */
  async #rockRidgeName(bytes: Buffer, at: number): Promise<string | undefined> {
    const length = bytes[at] ?? 0
    const nameLength = bytes[at + 32] ?? 0
    const start = at + 33 + nameLength + (nameLength % 2 === 0 ? 1 : 0)
    let area: Buffer = bytes.subarray(start, at + length)
    let name: string | undefined
    for (let hops = 0; hops < 8; hops++) {
      let next: Buffer | undefined
      for (let p = 0; p + 4 <= area.length;) {
        const size = area[p + 2] ?? 0
        if (size < 4) break
        const kind = area.toString('latin1', p, p + 2)
        if (kind === 'NM') name = (name ?? '') + area.toString('utf8', p + 5, p + size)
        if (kind === 'CE') {
          const from = area.readUInt32LE(p + 4) * block + area.readUInt32LE(p + 12)
          next = await this.#source.read(from, area.readUInt32LE(p + 20))
        }
        if (kind === 'ST') break
        p += size
      }
      if (next === undefined) return name
      area = next
    }
    return name
  }
}

function entryAt(bytes: Buffer, at: number): IsoEntry {
  const nameLength = bytes[at + 32] ?? 0
  const raw = bytes.toString('latin1', at + 33, at + 33 + nameLength)
  const special = nameLength === 1 && (raw === '\0' || raw === '\u0001')
  return {
    name: special ? '' : raw.replace(/;\d+$/, '').replace(/\.$/, ''),
    directory: ((bytes[at + 25] ?? 0) & 2) !== 0,
    extent: bytes.readUInt32LE(at + 2),
    size: bytes.readUInt32LE(at + 10),
  }
}

function bootImage(bytes: Buffer, at: number, platform: number): BootImage {
  return { platform, bootable: bytes[at] === 0x88, extent: bytes.readUInt32LE(at + 8) }
}
