import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import {
  type AttachedPort,
  type BondMember,
  checkConfigDrive,
  networkDataIsInvalid,
  type VifNetworkData,
} from '../domain/configdrive.ts'
import { errorNamed } from '../errors/define.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import type { Node } from '../objects/index.ts'
import { configDriveImage, repairConfigDrive } from './configdrive.ts'
import { readIso } from './iso9660-reader.ts'
import { writeIso } from './iso9660-writer.ts'

interface VectorPort {
  id: number
  uuid: string
  address: string
  portgroup_id?: number | null
  vif: string | null
}
interface Case {
  in: {
    fn: string
    node: { uuid: string; name: string | null }
    configdrive: unknown
    target: string
    minor: number
    network_data: unknown
    disable_metadata_mtu_check?: boolean
    ports: VectorPort[]
    portgroups: VectorPort[]
  }
  out?: unknown
  error?: string
}

const cases = JSON.parse(
  readFileSync(new URL('../../test/vectors/configdrive.json', import.meta.url), 'utf8'),
) as Case[]
const now = new Date('2026-12-01T12:00:00Z')

const filesIn = (drive: string) => readIso(gunzipSync(Buffer.from(drive, 'base64')))
const attached = (port: VectorPort): AttachedPort => ({
  ...port,
  internal_info: port.vif === null ? {} : { tenant_vif_port_id: port.vif },
})

/** The answer that the cases were made with: one link, network and name server per VIF. */
const describeVif: VifNetworkData = ({ vif, type, macAddress, bondLinks }) =>
  Promise.resolve({
    links: [
      ...(bondLinks ?? []).map((link) => ({ ...link })),
      {
        id: vif,
        type,
        ethernet_mac_address: macAddress,
        mtu: 1500,
        vif_id: vif,
        ...(bondLinks === null ? {} : { bond_links: bondLinks.map((member: BondMember) => member.id) }),
      },
    ],
    networks: [{ id: `net-${vif}`, link: vif, type: 'ipv4_dhcp' }],
    services: [{ type: 'dns', address: '192.0.2.1' }],
  })

const run: Record<string, (given: Case['in']) => unknown> = {
  async build({ node, configdrive }) {
    const drive = await configDriveImage({ ...node, instance_info: { configdrive } } as unknown as Node, now)
    const files = Object.entries(filesIn(drive!)).map(([path, content]) => {
      const text = content.toString('utf8')
      const whole = Buffer.from(text).equals(content)
      const body = whole ? { text } : { b64: content.toString('base64') }
      return [path, { ...body, sha256: createHash('sha256').update(content).digest('hex') }]
    })
    return Object.fromEntries(files)
  },
  accept: ({ configdrive, target, minor }) => checkConfigDrive(configdrive, target, minor) ?? null,
  network_data_invalid: (given) => networkDataIsInvalid(given.network_data, !given.disable_metadata_mtu_check),
  repair: ({ configdrive, ports, portgroups }) =>
    repairConfigDrive(configdrive, {
      ports: ports.map(attached),
      portgroups: portgroups.map(attached),
      describeVif,
      checkMtu: true,
      log: silentLogger,
      nodeUuid: 'n',
      now,
    }),
}

test('config drives are accepted, built and repaired as Ironic does', async () => {
  for (const one of cases) {
    const label = JSON.stringify(one).slice(0, 400)
    if (one.error === undefined) {
      assert.deepEqual(await run[one.in.fn]!(one.in), one.out, label)
      continue
    }
    const known = errorNamed(one.error)
    await assert.rejects(
      async () => await run[one.in.fn]!(one.in),
      (error: Error) => known === undefined || error.name === one.error,
      label,
    )
  }
})

test('an ISO with broken network data gets that of the attached VIFs', async () => {
  const files = {
    'openstack/latest/meta_data.json': Buffer.from('{}'),
    'openstack/latest/network_data.json': Buffer.from('{"links": [{"id": "a", "mtu": null}]}'),
    'openstack/content/a long name, with blanks.text': Buffer.from('x'.repeat(5000)),
  }
  const drive = gzipSync(writeIso(files, { label: 'config-2', created: now })).toString('base64')
  const port = { id: 1, uuid: 'u', address: '52:54:00:00:00:01', portgroup_id: null, vif: 'v1' }
  const parts = {
    ports: [attached(port)],
    portgroups: [],
    describeVif,
    checkMtu: true,
    log: silentLogger,
    nodeUuid: 'n',
    now,
  }
  const repaired = filesIn((await repairConfigDrive(drive, parts)) as string)
  assert.deepEqual(Object.keys(repaired).sort(), Object.keys(files).sort())
  assert.deepEqual(
    repaired['openstack/content/a long name, with blanks.text'],
    files['openstack/content/a long name, with blanks.text'],
  )
  const data = JSON.parse(repaired['openstack/latest/network_data.json']!.toString()) as { links: unknown[] }
  assert.deepEqual(data.links, [
    { id: 'iface0', type: 'phy', ethernet_mac_address: '52:54:00:00:00:01', mtu: 1500, vif_id: 'v1' },
  ])
  assert.equal(await repairConfigDrive(drive, { ...parts, ports: [] }), drive)
})

test('a config drive that is no ISO, or a decompression bomb, is left as it is', async () => {
  const parts = { ports: [], portgroups: [], describeVif, checkMtu: true, log: silentLogger, nodeUuid: 'n', now }
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64')
  for (const drive of ['SGVsbG8=', bomb]) assert.equal(await repairConfigDrive(drive, parts), drive)
})

test('an ISO that leads out of itself, or points beyond its end, is refused', () => {
  assert.throws(() => writeIso({ '../x': Buffer.from('') }, { label: 'x', created: now }))
  const iso = writeIso({ 'aa/bb': Buffer.from('text') }, { label: 'x', created: now })
  const name = Buffer.from('aa', 'utf16le').swap16()
  const evil = Buffer.from(iso)
  for (let at = evil.indexOf(name); at >= 0; at = evil.indexOf(name, at + 1))
    Buffer.from('..', 'utf16le').swap16().copy(evil, at)
  assert.throws(() => readIso(evil), { name: 'InvalidContent' })
  assert.throws(() => readIso(iso.subarray(0, iso.length - 2048)), { name: 'InvalidContent' })
  assert.throws(() => readIso(Buffer.alloc(100)), { name: 'InvalidContent' })
})
