/**
 * Writes small ISO 9660 images in memory (ECMA-119), with Rock Ridge names (IEEE P1282, RRIP 1.10) for Unix and Joliet names
 * for others. For config drives: a handful of files, all of them text.
 */

export const sectorSize = 2048

interface Entry {
  /** the name that users see */
  readonly name: string
  /** 8.3 upper case */
  plain: string
  readonly children: Entry[] | null
  readonly content: Buffer
  parent: Entry | null
  extent: number
  length: number
  jolietExtent: number
  jolietLength: number
}

export interface IsoOptions {
  readonly label: string
  readonly publisher?: string
  readonly created: Date
}

const newEntry = (name: string, children: Entry[] | null, content: Buffer, parent: Entry | null): Entry => ({
  name,
  plain: '',
  children,
  content,
  parent,
  extent: 0,
  length: content.length,
  jolietExtent: 0,
  jolietLength: 0,
})

function treeOf(files: Readonly<Record<string, Buffer>>): Entry {
  const root = newEntry('', [], Buffer.alloc(0), null)
  for (const [path, content] of Object.entries(files)) {
    const parts = path.split('/')
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
      throw new Error(`${path} is no path inside an image`)
    }
    let folder = root
    for (const part of parts.slice(0, -1)) {
      let next = folder.children!.find((entry) => entry.name === part)
      if (next === undefined) folder.children!.push((next = newEntry(part, [], Buffer.alloc(0), folder)))
      if (next.children === null) throw new Error(`${path}: ${part} is a file already`)
      folder = next
    }
    folder.children!.push(newEntry(parts.at(-1)!, null, content, folder))
  }
  return root
}

/** 8.3 names, unique within their folder. */
function namePlainly(folder: Entry): void {
  const used = new Set<string>()
  for (const entry of folder.children!) {
    const [base = '', extension = ''] = entry.children === null ? splitName(entry.name) : [entry.name]
    const clean = (text: string, length: number) =>
      text
        .toUpperCase()
        .replaceAll(/[^A-Z0-9_]/g, '_')
        .slice(0, length)
    for (let attempt = 0; ; attempt++) {
      const number = attempt === 0 ? '' : String(attempt)
      const stem = (clean(base, 8 - number.length) || '_') + number
      entry.plain = entry.children === null ? `${stem}.${clean(extension, 3)};1` : stem
      if (!used.has(entry.plain)) break
    }
    used.add(entry.plain)
    if (entry.children !== null) namePlainly(entry)
  }
}

function splitName(name: string): [string, string] {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)]
}

/** Both byte orders, as ECMA-119 7.2.3 and 7.3.3 want numbers. */
function both16(target: Buffer, at: number, value: number): void {
  target.writeUInt16LE(value, at)
  target.writeUInt16BE(value, at + 2)
}
function both32(target: Buffer, at: number, value: number): void {
  target.writeUInt32LE(value, at)
  target.writeUInt32BE(value, at + 4)
}

const recordTime = (time: Date) =>
  Buffer.from([
    time.getUTCFullYear() - 1900,
    time.getUTCMonth() + 1,
    time.getUTCDate(),
    time.getUTCHours(),
    time.getUTCMinutes(),
    time.getUTCSeconds(),
    0,
  ])

const even = (buffer: Buffer) => (buffer.length % 2 === 0 ? buffer : Buffer.concat([buffer, Buffer.alloc(1)]))

/** ECMA-119 9.1. */
function directoryRecord(
  identifier: Buffer,
  extent: number,
  length: number,
  isFolder: boolean,
  time: Date,
  systemUse: Buffer,
): Buffer {
  const padding = identifier.length % 2 === 0 ? 1 : 0
  const record = Buffer.alloc(33 + identifier.length + padding + systemUse.length)
  const total = record.length + (record.length % 2)
  record[0] = total
  both32(record, 2, extent)
  both32(record, 10, length)
  recordTime(time).copy(record, 18)
  record[25] = isFolder ? 2 : 0
  both16(record, 28, 1)
  record[32] = identifier.length
  identifier.copy(record, 33)
  systemUse.copy(record, 33 + identifier.length + padding)
  return even(record)
}

const susp = (signature: string, payload: Buffer) =>
  Buffer.concat([Buffer.from(signature, 'latin1'), Buffer.from([4 + payload.length, 1]), payload])

/** Mode, links, user, group. */
function posixAttributes(isFolder: boolean): Buffer {
  const payload = Buffer.alloc(32)
  both32(payload, 0, isFolder ? 0o40555 : 0o100444)
  both32(payload, 8, isFolder ? 2 : 1)
  return susp('PX', payload)
}

const alternateName = (name: string) => susp('NM', Buffer.concat([Buffer.from([0]), Buffer.from(name, 'utf8')]))
/** Says that system use areas follow the sharing protocol, and which extension is used. */
const suspIndicator = susp('SP', Buffer.from([0xbe, 0xef, 0]))
const extensionId = 'RRIP_1991A'
const extensionReference = susp(
  'ER',
  Buffer.concat([Buffer.from([extensionId.length, 0, 0, 1]), Buffer.from(extensionId)]),
)

/** How one of the two trees writes its names and where its extents are. */
interface Tree {
  readonly nameOf: (entry: Entry) => Buffer
  readonly extentOf: (entry: Entry) => number
  readonly lengthOf: (entry: Entry) => number
  readonly systemUse: (entry: Entry, as: 'self' | 'parent' | 'child') => Buffer
}

const none = Buffer.alloc(0)
const plainTree: Tree = {
  nameOf: (entry) => Buffer.from(entry.plain, 'latin1'),
  extentOf: (entry) => entry.extent,
  lengthOf: (entry) => entry.length,
  systemUse(entry, as) {
    const attributes = posixAttributes(entry.children !== null)
    if (as === 'child') return Buffer.concat([attributes, alternateName(entry.name)])
    if (as === 'self' && entry.parent === null) return Buffer.concat([suspIndicator, attributes, extensionReference])
    return attributes
  },
}
const jolietTree: Tree = {
  nameOf: (entry) => Buffer.from(entry.name, 'utf16le').swap16(),
  extentOf: (entry) => (entry.children === null ? entry.extent : entry.jolietExtent),
  lengthOf: (entry) => (entry.children === null ? entry.length : entry.jolietLength),
  systemUse: () => none,
}

/** The records of a folder; none crosses a sector. */
function directoryExtent(folder: Entry, tree: Tree, time: Date): Buffer {
  const record = (identifier: Buffer, entry: Entry, as: 'self' | 'parent' | 'child') =>
    directoryRecord(
      identifier,
      tree.extentOf(entry),
      tree.lengthOf(entry),
      entry.children !== null,
      time,
      tree.systemUse(entry, as),
    )
  const children = folder.children!.map((entry) => ({ entry, identifier: tree.nameOf(entry) }))
  children.sort((a, b) => Buffer.compare(a.identifier, b.identifier))
  const records = [
    record(Buffer.from([0]), folder, 'self'),
    record(Buffer.from([1]), folder.parent ?? folder, 'parent'),
    ...children.map(({ entry, identifier }) => record(identifier, entry, 'child')),
  ]
  const sectors: Buffer[] = []
  let current: Buffer[] = []
  let filled = 0
  const finish = () => {
    sectors.push(Buffer.concat([...current, Buffer.alloc(sectorSize - filled)]))
    current = []
    filled = 0
  }
  for (const one of records) {
    if (filled + one.length > sectorSize) finish()
    current.push(one)
    filled += one.length
  }
  finish()
  return Buffer.concat(sectors)
}

/** Folders level by level, as path tables list them. */
function foldersOf(root: Entry): Entry[] {
  const folders = [root]
  for (const folder of folders) {
    folders.push(...folder.children!.filter((entry) => entry.children !== null))
  }
  return folders
}

function pathTable(folders: readonly Entry[], tree: Tree, bigEndian: boolean): Buffer {
  const records = folders.map((folder) => {
    const identifier = folder.parent === null ? Buffer.from([0]) : tree.nameOf(folder)
    const record = Buffer.alloc(8)
    record[0] = identifier.length
    const extent = tree.extentOf(folder)
    const parent = folders.indexOf(folder.parent ?? folder) + 1
    if (bigEndian) {
      record.writeUInt32BE(extent, 2)
      record.writeUInt16BE(parent, 6)
    } else {
      record.writeUInt32LE(extent, 2)
      record.writeUInt16LE(parent, 6)
    }
    return even(Buffer.concat([record, identifier]))
  })
  return Buffer.concat(records)
}

interface VolumeFacts {
  readonly type: 1 | 2
  readonly options: IsoOptions
  readonly sectors: number
  readonly pathTableLength: number
  readonly pathTables: { little: number; big: number }
  readonly root: Buffer
}

/** ECMA-119 8.4 and 8.5. */
function volumeDescriptor({ type, options, sectors, pathTableLength, pathTables, root }: VolumeFacts): Buffer {
  const joliet = type === 2
  const descriptor = Buffer.alloc(sectorSize)
  const text = (at: number, length: number, value: string) => {
    if (joliet) {
      const wide = Buffer.alloc(length - (length % 2))
      Buffer.from(value.padEnd(wide.length / 2, ' ').slice(0, wide.length / 2), 'utf16le')
        .swap16()
        .copy(wide)
      wide.copy(descriptor, at)
    } else {
      descriptor.write(value.padEnd(length, ' ').slice(0, length), at, 'latin1')
    }
  }
  descriptor[0] = type
  descriptor.write('CD001', 1, 'latin1')
  descriptor[6] = 1
  text(8, 32, 'LINUX')
  text(40, 32, options.label)
  both32(descriptor, 80, sectors)
  // UCS-2 level 3
  if (joliet) descriptor.write('%/E', 88, 'latin1')
  both16(descriptor, 120, 1)
  both16(descriptor, 124, 1)
  both16(descriptor, 128, sectorSize)
  both32(descriptor, 132, pathTableLength)
  descriptor.writeUInt32LE(pathTables.little, 140)
  descriptor.writeUInt32BE(pathTables.big, 148)
  root.copy(descriptor, 156)
  for (const [at, length, value] of [
    [190, 128, ''],
    [318, 128, options.publisher ?? ''],
    [446, 128, ''],
    [574, 128, ''],
    [702, 37, ''],
    [739, 37, ''],
    [776, 37, ''],
  ] as const) {
    text(at, length, value)
  }
  const stamp = `${options.created.toISOString().replaceAll(/\D/g, '').slice(0, 14)}00`
  for (const at of [813, 830]) descriptor.write(stamp, at, 'latin1')
  for (const at of [847, 864]) descriptor.write('0'.repeat(16), at, 'latin1')
  descriptor[881] = 1
  return descriptor
}

const sectorsOf = (length: number) => Math.ceil(length / sectorSize)
const padded = (buffer: Buffer) =>
  Buffer.concat([buffer, Buffer.alloc(sectorsOf(buffer.length) * sectorSize - buffer.length)])

function filesOf(folders: readonly Entry[]): Entry[] {
  return folders.flatMap((folder) => folder.children!.filter((entry) => entry.children === null))
}

/** An image with these files, by path. */
export function writeIso(files: Readonly<Record<string, Buffer>>, options: IsoOptions): Buffer {
  const root = treeOf(files)
  namePlainly(root)
  const folders = foldersOf(root)
  const tableLengths = [plainTree, jolietTree].map((tree) => pathTable(folders, tree, false).length)
  // system area, three descriptors, then two path tables for each tree
  let next = 19
  const tables = tableLengths.map((length) => {
    const little = next
    const big = (next += sectorsOf(length))
    next += sectorsOf(length)
    return { little, big }
  })
  for (const folder of folders) {
    folder.length = directoryExtent(folder, plainTree, options.created).length
    folder.extent = next
    next += sectorsOf(folder.length)
  }
  for (const folder of folders) {
    folder.jolietLength = directoryExtent(folder, jolietTree, options.created).length
    folder.jolietExtent = next
    next += sectorsOf(folder.jolietLength)
  }
  for (const file of filesOf(folders)) {
    file.extent = next
    next += sectorsOf(file.length)
  }
  const descriptor = (type: 1 | 2, tree: Tree, index: number) =>
    volumeDescriptor({
      type,
      options,
      sectors: next,
      pathTableLength: tableLengths[index]!,
      pathTables: tables[index]!,
      root: directoryRecord(Buffer.from([0]), tree.extentOf(root), tree.lengthOf(root), true, options.created, none),
    })
  const terminator = Buffer.alloc(sectorSize)
  terminator[0] = 255
  terminator.write('CD001', 1, 'latin1')
  terminator[6] = 1
  return Buffer.concat([
    Buffer.alloc(16 * sectorSize),
    descriptor(1, plainTree, 0),
    descriptor(2, jolietTree, 1),
    terminator,
    ...[plainTree, jolietTree].flatMap((tree) => [false, true].map((big) => padded(pathTable(folders, tree, big)))),
    ...[plainTree, jolietTree].flatMap((tree) =>
      folders.map((folder) => directoryExtent(folder, tree, options.created)),
    ),
    ...filesOf(folders).map((file) => padded(file.content)),
  ])
}
