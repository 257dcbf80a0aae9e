/** Real sushy-tools as the BMC, the real ramdisk agent as a process, and a real image written by it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openFile } from '../../../src/lab/media/byte-source.ts'
import { readPartitionTable } from '../../../src/lab/media/partition-table.ts'
import { sha256Of } from '../../../src/lab/media/sample-image.ts'
import { bring } from '../../../src/lab/scenario/life.ts'
import { startServiceUnderTest } from '../service-under-test.ts'
import { startRealMachine, whyNoRealMachine } from './real-machine.ts'

const run = promisify(execFile)
const mebibyte = 1024 * 1024

async function partitionsOf(path: string) {
  const source = await openFile(path)
  try {
    return (await readPartitionTable(source))?.partitions ?? []
  } finally {
    await source.close()
  }
}

test(
  'enroll, clean, deploy byte for byte, undeploy: with the real agent behind sushy-tools',
  { timeout: 900_000 },
  async (context) => {
    const reason = await whyNoRealMachine()
    if (reason !== null) {
      context.skip(reason)
      return
    }
    // Seven seconds at most pass between two notices of the power state: the emulator takes up to 11 s for each change.
    const service = await startServiceUnderTest({
      imageSize: 64 * mebibyte,
      set: { 'conductor.power_state_sync_max_retries': 10 },
    })
    context.after(() => service.close())
    const directory = join(service.directory, 'machine')
    await mkdir(directory)
    const machine = await startRealMachine(directory)
    context.after(() => machine.close())
    const { client, images, materials } = service
    const image = materials.image.path
    const [, root] = await partitionsOf(image)
    assert.ok(root !== undefined)
    await run('/usr/sbin/mkfs.ext4', [
      '-q',
      '-F',
      '-L',
      'lab-root',
      '-E',
      `offset=${root.start}`,
      image,
      `${root.size / 1024}k`,
    ])
    const sha256 = await sha256Of(image)

    const options = { limit: 240_000, every: 500 }
    const node = await client.createNode({
      name: 'real-machine',
      driver: 'redfish',
      driver_info: machine.driverInfo,
      boot_interface: 'redfish-virtual-media',
      deploy_interface: 'direct',
      inspect_interface: 'no-inspect',
      bios_interface: 'no-bios',
      properties: { cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi' },
    })
    await client.createPort(node.uuid, machine.mac)
    const steps: [verb: string, state: string][] = [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ]
    for (const [verb, state] of steps) await bring(client, node.uuid, verb, state, options)
    await client.patch(node.uuid, {
      '/instance_info/image_source': `${images.url}/${materials.names.image}`,
      '/instance_info/image_os_hash_algo': 'sha256',
      '/instance_info/image_os_hash_value': sha256,
      '/instance_info/image_disk_format': 'raw',
    })
    const configdrive = { meta_data: { hostname: 'real-machine', uuid: node.uuid } }
    await bring(client, node.uuid, 'active', 'active', options, { configdrive })

    for (const partition of await partitionsOf(image)) {
      const place = { start: partition.start, length: partition.size }
      assert.equal(await sha256Of(machine.disk, place), await sha256Of(image, place), `partition ${partition.number}`)
    }
    const written = await partitionsOf(machine.disk)
    assert.equal(written.length, 3, 'the agent added a partition for the config drive')
    const drive = written.find((partition) => partition.number === 3)
    assert.ok(drive !== undefined)
    const source = await openFile(machine.disk)
    assert.equal((await source.read(drive.start + 32_808, 8)).toString('latin1').trimEnd().toLowerCase(), 'config-2')
    await source.close()

    await bring(client, node.uuid, 'deleted', 'available', options)
    assert.deepEqual(await partitionsOf(machine.disk), [], 'cleaning left a partition table')
  },
)
