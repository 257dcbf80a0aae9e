import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'

/** A disk that volumes can be made of. */
export interface PhysicalDisk {
  readonly id: string
  /** path of the resource */
  readonly path: string
  /** id of the storage that it belongs to */
  readonly storage: string
  readonly capacity: number
  /** `SSD`, `HDD`, `SMR` */
  readonly mediaType: string | null
  /** `SAS`, `SATA`, `NVMe`, `PCIe` */
  readonly protocol: string | null
}

/** A volume as the node's target configuration has it. */
export interface WantedVolume {
  readonly raid_level: string
  /** GiB, or `MAX` */
  readonly size_gb: number | 'MAX'
  readonly controller?: string
  readonly volume_name?: string
  readonly is_root_volume?: boolean
  readonly share_physical_disks?: boolean
  readonly disk_type?: string
  readonly interface_type?: string
  readonly number_of_physical_disks?: number
  readonly physical_disks?: readonly string[]
}

/** The same with its place: what is to be sent. */
export interface PlannedVolume {
  readonly storage: string
  readonly raidType: string
  readonly name: string | null
  /** null: all that the disks have */
  readonly bytes: number | null
  readonly drives: readonly string[]
  readonly isRoot: boolean
}

interface Level {
  readonly raidType: string
  readonly min: number
  readonly max: number
  /** disks' worth of capacity that redundancy takes, per span */
  readonly overhead: number
  /** how many spans so many disks are put into */
  readonly spans: (disks: number) => number
}

const one = () => 1
const two = () => 2
const pairs = (disks: number) => Math.floor(disks / 2)

/** RAID levels of Ironic, as Redfish has them. Of levels with spans, the numbers are those of one span. */
export const raidLevels: Readonly<Record<string, Level>> = {
  '0': { raidType: 'RAID0', min: 1, max: 1000, overhead: 0, spans: one },
  '1': { raidType: 'RAID1', min: 2, max: 2, overhead: 1, spans: one },
  '5': { raidType: 'RAID5', min: 3, max: 1000, overhead: 1, spans: one },
  '6': { raidType: 'RAID6', min: 4, max: 1000, overhead: 2, spans: one },
  '1+0': { raidType: 'RAID10', min: 2, max: 2, overhead: 1, spans: pairs },
  '5+0': { raidType: 'RAID50', min: 3, max: 1000, overhead: 1, spans: two },
  '6+0': { raidType: 'RAID60', min: 4, max: 1000, overhead: 2, spans: two },
}

export const levelOfRaidType = (raidType: string): string | null =>
  Object.keys(raidLevels).find((level) => raidLevels[level]!.raidType === raidType) ?? null

const gib = 1024 ** 3
const stripeBytes = 64 * 1024 * 1024
/** Plans that are looked at before it is said that there is none: the tree of choices can be large. */
const mostTries = 20_000

/** Free bytes by disk. */
type Space = ReadonlyMap<PhysicalDisk, number>

interface Placement {
  readonly volume: WantedVolume
  readonly disks: readonly PhysicalDisk[]
}

const refuse = (error: string) => new RedfishError({ error })

/**
 * Finds disks for all volumes: those that name their disks first, then those that do not (all of one kind and size, as few as will
 * do), then those that take all that is left.
 * @throws InvalidParameterValue, RedfishError saying which volume finds no place
 */
export function planVolumes(wanted: readonly WantedVolume[], disks: readonly PhysicalDisk[]): PlannedVolume[] {
  for (const volume of wanted) checkVolume(volume)
  const volumes = wanted.map((volume) => onKnownController(volume, disks))
  const named = (volume: WantedVolume) => volume.physical_disks !== undefined
  const sized = volumes.filter((volume) => named(volume) && volume.size_gb !== 'MAX')
  const greedy = volumes.filter((volume) => named(volume) && volume.size_gb === 'MAX')
  const free = volumes.filter((volume) => !named(volume))
  let space: Space = new Map(disks.map((disk) => [disk, disk.capacity]))
  const placed: Placement[] = []
  const place = (volume: WantedVolume) => {
    const chosen = disksNamed(volume, disks)
    space = take(volume, chosen, space)
    placed.push({ volume, disks: chosen })
  }
  for (const volume of sized) place(volume)
  if (free.length > 0) {
    const exclusive = new Set(
      volumes
        .filter((volume) => named(volume) && volume.share_physical_disks !== true)
        .flatMap((volume) => volume.physical_disks ?? []),
    )
    const reserved = new Set(
      greedy.filter((volume) => volume.share_physical_disks === true).flatMap((volume) => volume.physical_disks ?? []),
    )
    const usable = disks.filter((disk) => !exclusive.has(disk.id))
    const found =
      assign(
        free,
        usable.filter((disk) => !reserved.has(disk.id)),
        space,
      ) ?? assign(free, usable, space)
    if (found === null) throw refuse('the disks do not suffice for all logical disks that name none')
    space = found.space
    placed.push(...found.placements)
  }
  for (const volume of greedy) place(volume)
  return placed.map(planned)
}

/** A controller that goes by another name here than its storage does not choose; its disks do. */
function onKnownController(volume: WantedVolume, disks: readonly PhysicalDisk[]): WantedVolume {
  const { controller, ...others } = volume
  return controller !== undefined && disks.some((disk) => disk.storage === controller) ? volume : others
}

function checkVolume(volume: WantedVolume): void {
  if (raidLevels[volume.raid_level] === undefined)
    throw refuse(`RAID level ${volume.raid_level} is not one of ${Object.keys(raidLevels).join(', ')}`)
  if (volume.size_gb === 'MAX' && volume.physical_disks === undefined)
    throw new InvalidParameterValue('A logical disk of size MAX must name its physical_disks.')
}

const planned = ({ volume, disks }: Placement): PlannedVolume => ({
  storage: disks[0]!.storage,
  raidType: raidLevels[volume.raid_level]!.raidType,
  name: volume.volume_name ?? null,
  bytes: volume.size_gb === 'MAX' ? null : volume.size_gb * gib,
  drives: disks.map((disk) => disk.path),
  isRoot: volume.is_root_volume === true,
})

function disksNamed(volume: WantedVolume, disks: readonly PhysicalDisk[]): PhysicalDisk[] {
  const names = volume.physical_disks ?? []
  const own = disks.filter((disk) => volume.controller === undefined || volume.controller === disk.storage)
  const missing = names.filter((name) => !own.some((disk) => disk.id === name))
  if (missing.length > 0)
    throw refuse(`there is no disk ${missing.join(', ')}; there are ${own.map((disk) => disk.id).join(', ') || 'none'}`)
  return own.filter((disk) => names.includes(disk.id))
}

/** What is left after the volume. @throws RedfishError when it does not fit onto those disks */
function take(volume: WantedVolume, disks: readonly PhysicalDisk[], space: Space): Space {
  const level = raidLevels[volume.raid_level]!
  const spans = level.spans(disks.length)
  if (spans === 0 || disks.length % spans !== 0)
    throw refuse(`RAID level ${volume.raid_level} needs a multiple of ${Math.max(spans, 2)} disks, not ${disks.length}`)
  const data = disks.length - level.overhead * spans
  if (data <= 0) throw refuse(`${disks.length} disks are too few for RAID level ${volume.raid_level}`)
  const stripes = Math.floor(Math.min(...disks.map((disk) => space.get(disk) ?? 0)) / stripeBytes)
  const most = stripes * stripeBytes * data
  if (most === 0) throw refuse(`the disks ${disks.map((disk) => disk.id).join(', ')} have no room left`)
  const bytes = volume.size_gb === 'MAX' ? most : volume.size_gb * gib
  if (bytes > most)
    throw refuse(
      `a logical disk of ${volume.size_gb} GiB is larger than the ${Math.floor(most / gib)} GiB that its disks can hold`,
    )
  const perDisk = Math.ceil(Math.ceil(bytes / stripeBytes) / data) * stripeBytes
  const left = new Map(space)
  for (const disk of disks) left.set(disk, (space.get(disk) ?? 0) - perDisk)
  return left
}

interface Assignment {
  readonly placements: readonly Placement[]
  readonly space: Space
}

/** Places volumes one after another; when a later one finds no place, an earlier one is tried elsewhere. */
function assign(volumes: readonly WantedVolume[], disks: readonly PhysicalDisk[], space: Space): Assignment | null {
  let tries = 0
  const place = (index: number, free: Space): Assignment | null => {
    const volume = volumes[index]
    if (volume === undefined) return { placements: [], space: free }
    for (const candidate of candidates(volume, disks, free)) {
      if (++tries > mostTries) return null
      const left = fits(volume, candidate, free)
      const rest = left === null ? null : place(index + 1, left)
      if (rest !== null) return { ...rest, placements: [{ volume, disks: candidate }, ...rest.placements] }
    }
    return null
  }
  return place(0, space)
}

function fits(volume: WantedVolume, disks: readonly PhysicalDisk[], space: Space): Space | null {
  try {
    return take(volume, disks, space)
  } catch (error) {
    if (error instanceof RedfishError) return null
    throw error
  }
}

/** Sets of disks of one kind for a volume, smallest sets of the fullest disks first. */
function* candidates(volume: WantedVolume, disks: readonly PhysicalDisk[], space: Space): Generator<PhysicalDisk[]> {
  const level = raidLevels[volume.raid_level]!
  for (const group of kinds(disks)) {
    const [first] = group
    if (first === undefined || !isWanted(volume, first)) continue
    const usable = group
      .filter((disk) => (space.get(disk) ?? 0) > 0)
      .filter((disk) => volume.share_physical_disks === true || space.get(disk) === disk.capacity)
      .toSorted((a, b) => (space.get(a) ?? 0) - (space.get(b) ?? 0))
    const spanned = level.spans(4) > 1
    const least = level.min * (spanned ? 2 : 1)
    const most = Math.min(level.max * (spanned ? level.spans(usable.length) : 1), usable.length)
    for (let count = least; count <= most; count++) {
      if (volume.number_of_physical_disks !== undefined && volume.number_of_physical_disks !== count) continue
      if (spanned && count % 2 !== 0) continue
      yield usable.slice(0, count)
    }
  }
}

const kinds = (disks: readonly PhysicalDisk[]): PhysicalDisk[][] => {
  const groups = new Map<string, PhysicalDisk[]>()
  for (const disk of disks) {
    const kind = `${disk.storage} ${disk.mediaType} ${disk.protocol} ${disk.capacity}`
    groups.set(kind, [...(groups.get(kind) ?? []), disk])
  }
  return [...groups.values()]
}

const same = (wanted: string | undefined, has: string | null): boolean =>
  wanted === undefined || wanted.toLowerCase() === has?.toLowerCase()

const isWanted = (volume: WantedVolume, disk: PhysicalDisk): boolean =>
  same(volume.disk_type, disk.mediaType) &&
  same(volume.interface_type, disk.protocol) &&
  (volume.controller === undefined || volume.controller === disk.storage)
