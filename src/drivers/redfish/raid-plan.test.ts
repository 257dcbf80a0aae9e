import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'
import { type PhysicalDisk, planVolumes, type WantedVolume } from './raid-plan.ts'

const gib = 1024 ** 3
const disk = (id: string, more: Partial<PhysicalDisk> = {}): PhysicalDisk => ({
  id,
  path: `/drives/${id}`,
  storage: 's',
  capacity: 500 * gib,
  mediaType: 'HDD',
  protocol: 'SAS',
  ...more,
})
const disks = (count: number, more: Partial<PhysicalDisk> = {}) =>
  Array.from({ length: count }, (_, index) => disk(`d${index + 1}`, more))
const drives = (volumes: WantedVolume[], all: PhysicalDisk[]) =>
  planVolumes(volumes, all).map((volume) => volume.drives.map((path) => path.split('/').at(-1)).join(' '))

test('each level takes as few disks as it needs', () => {
  const counts = { '0': 1, '1': 2, '5': 3, '6': 4, '1+0': 4, '5+0': 6, '6+0': 8 }
  for (const [raid_level, count] of Object.entries(counts)) {
    const [plan] = planVolumes([{ raid_level, size_gb: 100 }], disks(9))
    assert.equal(plan!.drives.length, count, raid_level)
    assert.equal(plan!.bytes, 100 * gib)
  }
})

test('a volume that one disk fewer cannot hold takes more', () => {
  assert.deepEqual(drives([{ raid_level: '5', size_gb: 1200 }], disks(5)), ['d1 d2 d3 d4'])
  assert.deepEqual(drives([{ raid_level: '0', size_gb: 900 }], disks(5)), ['d1 d2'])
  assert.throws(() => planVolumes([{ raid_level: '5', size_gb: 5000 }], disks(5)), RedfishError)
})

test('disks are of one kind, and of the one that is wanted', () => {
  const mixed = [
    disk('h1'),
    disk('s1', { mediaType: 'SSD', protocol: 'SATA' }),
    disk('h2'),
    disk('s2', { mediaType: 'SSD', protocol: 'SATA' }),
  ]
  assert.deepEqual(drives([{ raid_level: '1', size_gb: 10, disk_type: 'ssd' }], mixed), ['s1 s2'])
  assert.deepEqual(drives([{ raid_level: '1', size_gb: 10, interface_type: 'sata' }], mixed), ['s1 s2'])
  assert.deepEqual(drives([{ raid_level: '1', size_gb: 10 }], mixed), ['h1 h2'])
  assert.throws(() => planVolumes([{ raid_level: '5', size_gb: 10 }], mixed), RedfishError)
  const nvme = [disk('n1', { protocol: 'NVMe' }), disk('n2', { protocol: 'NVMe' })]
  assert.throws(() => planVolumes([{ raid_level: '1', size_gb: 10, interface_type: 'sas' }], nvme), RedfishError)
  assert.deepEqual(drives([{ raid_level: '0', size_gb: 10, number_of_physical_disks: 3 }], disks(5)), ['d1 d2 d3'])
})

test('volumes do not share disks unless they may; one that finds no place makes another move', () => {
  assert.deepEqual(
    drives(
      [
        { raid_level: '1', size_gb: 10 },
        { raid_level: '5', size_gb: 10 },
      ],
      disks(5),
    ),
    ['d1 d2', 'd3 d4 d5'],
  )
  const shared = { size_gb: 10, share_physical_disks: true }
  assert.deepEqual(
    drives(
      [
        { raid_level: '1', ...shared },
        { raid_level: '5', ...shared },
      ],
      disks(3),
    ),
    ['d1 d2', 'd1 d2 d3'],
  )
  const two = [...disks(2), ...['e1', 'e2', 'e3'].map((id) => disk(id, { capacity: 400 * gib }))]
  assert.deepEqual(
    drives(
      [
        { raid_level: '0', size_gb: 10 },
        { raid_level: '1', size_gb: 450 },
      ],
      two,
    ),
    ['e1', 'd1 d2'],
  )
})

test('named disks are used as named; MAX takes all of them and is sent without a size', () => {
  const [plan] = planVolumes(
    [{ raid_level: '1', size_gb: 'MAX', controller: 's', physical_disks: ['d2', 'd3'], volume_name: 'root' }],
    disks(3),
  )
  assert.deepEqual(plan, {
    storage: 's',
    raidType: 'RAID1',
    name: 'root',
    bytes: null,
    drives: ['/drives/d2', '/drives/d3'],
    isRoot: false,
  })
  assert.deepEqual(
    drives(
      [
        { raid_level: '1', size_gb: 'MAX', physical_disks: ['d1', 'd2'] },
        { raid_level: '0', size_gb: 10 },
      ],
      disks(3),
    ),
    ['d3', 'd1 d2'],
  )
  assert.throws(() => planVolumes([{ raid_level: '1', size_gb: 'MAX' }], disks(3)), InvalidParameterValue)
  assert.throws(
    () => planVolumes([{ raid_level: '1', size_gb: 10, physical_disks: ['d1', 'x'] }], disks(3)),
    /no disk x; there are d1, d2, d3/,
  )
  assert.throws(
    () => planVolumes([{ raid_level: '5+0', size_gb: 10, physical_disks: ['d1', 'd2', 'd3'] }], disks(3)),
    RedfishError,
  )
  assert.throws(() => planVolumes([{ raid_level: '2', size_gb: 10 }], disks(3)), /RAID level 2/)
})

test('a plan that cannot be is told within reason', () => {
  const many = Array.from({ length: 13 }, (): WantedVolume => ({
    raid_level: '0',
    size_gb: 450,
    share_physical_disks: true,
  }))
  const started = Date.now()
  assert.throws(() => planVolumes(many, disks(11)), RedfishError)
  assert.ok(Date.now() - started < 5000)
})
