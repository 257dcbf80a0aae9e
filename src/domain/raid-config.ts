import { InvalidParameterValue } from '../errors/base.ts'

type Check = (value: unknown) => string | null

const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && allowed.includes(value) ? null : `must be one of ${allowed.join(', ')}`
const text: Check = (value) => (typeof value === 'string' ? null : 'must be text')
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false')
const integerFrom =
  (least: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least ? null : `must be an integer of at least ${least}`

/** What a logical disk may say: the check of the value, and what it means (shown by the API). */
const logicalDiskFields: Readonly<Record<string, { check: Check; required?: true; means: string }>> = {
  raid_level: {
    check: oneOf('JBOD', '0', '1', '2', '5', '6', '1+0', '5+0', '6+0'),
    required: true,
    means: 'RAID level of the logical disk: JBOD, 0, 1, 2, 5, 6, 1+0, 5+0 or 6+0. Required.',
  },
  size_gb: {
    check: (value) => (value === 'MAX' ? null : integerFrom(0)(value)),
    required: true,
    means: 'Size of the logical disk in GiB, or MAX for all that is left on its physical disks. Required.',
  },
  volume_name: {
    check: text,
    means: 'Name of the logical disk, unique within the configuration. Optional; made up when left out.',
  },
  is_root_volume: { check: flag, means: 'True for the one disk that the system is written to. Optional, False.' },
  share_physical_disks: {
    check: flag,
    means: 'True when other logical disks may use the same physical disks. Optional, False.',
  },
  disk_type: { check: oneOf('hdd', 'ssd'), means: 'Kind of the physical disks: hdd or ssd. Optional.' },
  interface_type: {
    check: oneOf('sata', 'scsi', 'sas'),
    means: 'Interface of the physical disks: sata, scsi or sas. Optional.',
  },
  number_of_physical_disks: {
    check: integerFrom(1),
    means: 'How many physical disks to use. Optional; as few as the RAID level needs.',
  },
  controller: { check: text, means: 'The RAID controller to use, as the driver names it. Optional.' },
  physical_disks: {
    check: (value) => {
      if (!Array.isArray(value)) return 'must be a list'
      if (value.every((disk) => typeof disk === 'string')) return null
      if (value.every((disk) => typeof disk === 'object' && disk !== null && !Array.isArray(disk))) {
        return value.length >= 2 ? null : 'must name at least two disks when they are described by properties'
      }
      return 'must hold names of disks only, or properties of disks only'
    },
    means: 'The physical disks to use, as the driver names them. Optional; needs controller.',
  },
}

/** Field of a logical disk and what it means: `GET /v1/drivers/{driver}/raid/logical_disk_properties`. */
export const logicalDiskProperties: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(logicalDiskFields).map(([name, field]) => [name, field.means]),
)

const wrong = (why: string) => new InvalidParameterValue(`The RAID configuration is not usable: ${why}.`)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function checkLogicalDisk(disk: unknown, where: string): void {
  if (!isObject(disk)) throw wrong(`${where} must be an object`)
  for (const [name, value] of Object.entries(disk)) {
    const field = Object.hasOwn(logicalDiskFields, name) ? logicalDiskFields[name] : undefined
    if (field === undefined) throw wrong(`${where} has an unknown field ${name}`)
    const problem = field.check(value)
    if (problem !== null) throw wrong(`${name} of ${where} ${problem}`)
  }
  for (const [name, field] of Object.entries(logicalDiskFields)) {
    if (field.required === true && !(name in disk)) throw wrong(`${where} lacks ${name}`)
  }
  if ('physical_disks' in disk && !('controller' in disk))
    throw wrong(`${where} names physical_disks but no controller`)
}

/**
 * Checks a target RAID configuration: `{logical_disks: [...]}`, at most one root volume.
 * @throws InvalidParameterValue
 */
export function checkRaidConfig(config: unknown): void {
  if (!isObject(config)) throw wrong('it must be an object')
  const unknown = Object.keys(config).find((name) => name !== 'logical_disks')
  if (unknown !== undefined) throw wrong(`it has an unknown field ${unknown}`)
  const disks = config['logical_disks']
  if (!Array.isArray(disks) || disks.length === 0) throw wrong('logical_disks must list at least one disk')
  disks.forEach((disk, index) => checkLogicalDisk(disk, `logical disk ${index}`))
  const roots = disks.filter((disk: Record<string, unknown>) => disk['is_root_volume'] === true)
  if (roots.length > 1) throw wrong(`${roots.length} disks are root volumes, only one may be`)
}
