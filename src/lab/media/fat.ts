/** A file of a FAT volume; names are 8.3 in capitals, directories come from the path. */
export interface FatFile {
  readonly path: string
  readonly bytes: Buffer
}

const sector = 512
const rootEntries = 224

/**
 * Makes a FAT12 volume (Microsoft FAT specification 1.03) such as an EFI system partition image.
 * @param size bytes, a multiple of 512 and of at most 16 MiB
 * @throws Error when the files do not fit
 */
export function fatVolume(size: number, label: string, files: readonly FatFile[]): Buffer {
  const total = size / sector
  const perCluster = total > 16_000 ? 16 : total > 8000 ? 8 : 4
  const fatSectors = Math.ceil((Math.ceil(total / perCluster + 2) * 1.5) / sector)
  const dataStart = 1 + 2 * fatSectors + (rootEntries * 32) / sector
  const clusters = Math.floor((total - dataStart) / perCluster)
  if (clusters > 4084 || clusters < 8) throw new Error(`a FAT12 volume cannot have ${size} bytes`)
  const volume = Buffer.alloc(size)
  writeBootSector(volume, { total, perCluster, fatSectors, label })
  const fat = new Uint16Array(clusters + 2)
  fat[0] = 0xff0
  fat[1] = 0xfff
  let nextCluster = 2
  const store = (bytes: Buffer): number => {
    const needed = Math.max(1, Math.ceil(bytes.length / (perCluster * sector)))
    if (nextCluster + needed > clusters + 2) throw new Error(`the files do not fit into ${size} bytes`)
    const first = nextCluster
    for (let n = 0; n < needed; n++) fat[first + n] = n + 1 === needed ? 0xfff : first + n + 1
    nextCluster += needed
    bytes.copy(volume, (dataStart + (first - 2) * perCluster) * sector)
    return first
  }
  const build = (prefix: string, parent: number | null, at: number | null): Buffer => {
    const names = new Set(
      files.filter((file) => file.path.startsWith(prefix)).map((file) => file.path.slice(prefix.length)),
    )
    const children = new Map<string, boolean>()
    for (const name of names) children.set(name.split('/')[0] ?? '', name.includes('/'))
    const entries: Buffer[] = []
    if (parent !== null && at !== null)
      entries.push(directoryEntry('.', 0x10, at, 0), directoryEntry('..', 0x10, parent, 0))
    for (const [name, directory] of children) {
      if (directory) {
        const own = nextCluster
        store(Buffer.alloc(perCluster * sector)) // reserves the cluster; filled below
        const bytes = build(`${prefix}${name}/`, at ?? 0, own)
        bytes.copy(volume, (dataStart + (own - 2) * perCluster) * sector)
        entries.push(directoryEntry(name, 0x10, own, 0))
      } else {
        const bytes = files.find((file) => file.path === prefix + name)?.bytes ?? Buffer.alloc(0)
        entries.push(directoryEntry(name, 0x20, store(bytes), bytes.length))
      }
    }
    return Buffer.concat(entries)
  }
  const root = build('', null, null)
  Buffer.concat([directoryEntry(label, 0x08, 0, 0), root]).copy(volume, (1 + 2 * fatSectors) * sector)
  for (let copy = 0; copy < 2; copy++) packFat12(fat, volume.subarray((1 + copy * fatSectors) * sector))
  return volume
}

function writeBootSector(
  volume: Buffer,
  shape: { total: number; perCluster: number; fatSectors: number; label: string },
): void {
  Buffer.from([0xeb, 0x3c, 0x90]).copy(volume)
  volume.write('OPENKEEL', 3, 'latin1')
  volume.writeUInt16LE(sector, 11)
  volume[13] = shape.perCluster
  volume.writeUInt16LE(1, 14)
  volume[16] = 2
  volume.writeUInt16LE(rootEntries, 17)
  volume.writeUInt16LE(shape.total, 19)
  volume[21] = 0xf0
  volume.writeUInt16LE(shape.fatSectors, 22)
  volume.writeUInt16LE(32, 24)
  volume.writeUInt16LE(2, 26)
  volume[38] = 0x29
  volume.write(shape.label.padEnd(11), 43, 'latin1')
  volume.write('FAT12   ', 54, 'latin1')
  volume.writeUInt16LE(0xaa55, 510)
}

function directoryEntry(name: string, attributes: number, cluster: number, size: number): Buffer {
  const entry = Buffer.alloc(32)
  const dot = attributes === 0x08 || name.startsWith('.') ? -1 : name.lastIndexOf('.')
  const base = dot === -1 ? name : name.slice(0, dot)
  const extension = dot === -1 ? '' : name.slice(dot + 1)
  entry.write(attributes === 0x08 ? name.padEnd(11) : base.padEnd(8) + extension.padEnd(3), 0, 11, 'latin1')
  entry[11] = attributes
  entry.writeUInt16LE(cluster, 26)
  entry.writeUInt32LE(size, 28)
  return entry
}

function packFat12(fat: Uint16Array, out: Buffer): void {
  for (let n = 0; n < fat.length; n += 2) {
    const [a, b] = [fat[n] ?? 0, fat[n + 1] ?? 0]
    const at = (n / 2) * 3
    out[at] = a & 0xff
    out[at + 1] = (a >> 8) | ((b & 0x0f) << 4)
    out[at + 2] = b >> 4
  }
}
