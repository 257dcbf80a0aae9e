/** A lab of machines, and the service as a process: whole lives, and the service killed in the middle of them. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLab } from '../../src/lab/lab.ts'
import type { LabMachine, LabOptions } from '../../src/lab/lab.ts'
import type { ShownNode } from '../../src/lab/client.ts'
import { bring, checkDisk, deployImage, deployMachine, enroll } from '../../src/lab/scenario/life.ts'
import type { LifeOptions } from '../../src/lab/scenario/life.ts'
import { strictBmc } from '../../src/lab/bmc/profile.ts'
import { quickTimings } from '../../src/lab/timings.ts'
import { startServiceUnderTest } from './service-under-test.ts'
import type { ServiceUnderTest } from './service-under-test.ts'

const timings = { ...quickTimings, ramdisk: 500 }

async function lifeWith(service: ServiceUnderTest, more: Partial<LifeOptions> = {}): Promise<LifeOptions> {
  const { images, materials } = service
  const image = {
    url: `${images.url}/${materials.names.image}`,
    path: materials.image.path,
    sha256: materials.image.sha256,
  }
  return { image, inspect: 'redfish', limit: 90_000, every: 100, clean: true, ...more }
}

async function labFor(service: ServiceUnderTest, machines: number, more: Partial<LabOptions> = {}) {
  return await startLab({ machines, directory: join(service.directory, `lab-${Date.now()}`), timings, ...more })
}

const secrets = ['lab-password', 'a user secret', Buffer.from('a user secret').toString('base64')]

/** Files of the service that others than its user can read and that hold a secret. Boot media are for everyone. */
async function secretsForOthers(directory: string, tokens: readonly string[]): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const path = join(entry.parentPath, entry.name)
    if (path.startsWith(join(directory, 'http'))) continue
    const { mode } = await stat(path)
    if ((mode & 0o077) === 0) continue
    const content = await readFile(path, 'latin1')
    if ([...secrets, ...tokens].some((secret) => content.includes(secret))) found.push(path)
  }
  return found
}

/** The agent tokens that a machine was ever booted with. */
const tokensOf = (machine: LabMachine) =>
  machine.machine.console.flatMap((line) => /ipa-agent-token=(\S+)/.exec(line)?.[1] ?? [])

describe('machines of a lab', { timeout: 600_000 }, () => {
  test('several at once: enroll to active, given back, wiped; nothing of a deployment is left', async (context) => {
    await using stack = new AsyncDisposableStack()
    const service = await startServiceUnderTest()
    stack.defer(() => service.close())
    const lab = await labFor(service, 3)
    stack.defer(() => lab.close())
    const life = await lifeWith(service)
    await Promise.all(
      lab.machines.map(async (machine) => {
        const node = await deployMachine(service.client, machine, life)
        for (let n = 0; n < 50 && machine.machine.running.kind !== 'system'; n++) await sleep(100)
        assert.deepEqual(machine.machine.running, { kind: 'system', marker: 'lab-system', hostname: machine.name })
        assert.ok(
          machine.machine.media.every((slot) => slot.image === null),
          'a medium was left in a drive',
        )
        const internal = JSON.stringify(node['driver_internal_info'])
        assert.doesNotMatch(internal, /agent_secret_token"|agent_url/)
        await bring(service.client, node.uuid, 'deleted', 'available', life)
        assert.equal(await machine.machine.disk.partitions(), null)
      }),
    )
    const left = await readdir(join(service.state, 'http'), { recursive: true })
    assert.deepEqual(
      left.filter((name) => /iso|img/.test(name)),
      [],
      'boot images were left on the web server',
    )
    context.diagnostic('3 machines')
  })

  test('a strict BMC over TLS: sessions, weak tags, If-Match wanted, states refused', async () => {
    await using stack = new AsyncDisposableStack()
    const service = await startServiceUnderTest()
    stack.defer(() => service.close())
    const lab = await labFor(service, 1, { profile: strictBmc, tls: true })
    stack.defer(() => lab.close())
    const life = await lifeWith(service, { driverInfo: { redfish_verify_ca: false } })
    for (const machine of lab.machines) await deployMachine(service.client, machine, life)
  })
})

/** Where the service is killed: milliseconds after the deployment was asked for. */
const moments = [50, 300, 700, 1300, 2000, 3000, 4500, 6000]

describe('the service is killed while nodes are deployed', { timeout: 900_000 }, () => {
  test('after each start no node is stuck, no lock stays, no secret is readable, and each node can be deployed', async () => {
    await using stack = new AsyncDisposableStack()
    const set = {
      'conductor.deploy_callback_timeout': 60,
      'conductor.clean_callback_timeout': 60,
      'conductor.check_provision_state_interval': 5,
    }
    const service = await startServiceUnderTest({ set })
    stack.defer(() => service.close())
    const lab = await labFor(service, 2, { timings: { ...timings, ramdisk: 1500 } })
    stack.defer(() => lab.close())
    const life = await lifeWith(service, { clean: false })
    const nodes: ShownNode[] = []
    for (const machine of lab.machines) {
      const node = await enroll(service.client, machine, life)
      await bring(service.client, node.uuid, 'manage', 'manageable', life)
      await bring(service.client, node.uuid, 'provide', 'available', life)
      nodes.push(node)
    }
    for (const moment of moments) {
      const [machine, node] = [lab.machines[0], nodes[0]]
      assert.ok(machine !== undefined && node !== undefined)
      await service.client.patch(node.uuid, {
        '/instance_info/image_source': life.image.url,
        '/instance_info/image_os_hash_algo': 'sha256',
        '/instance_info/image_os_hash_value': life.image.sha256,
        '/instance_info/image_disk_format': 'raw',
      })
      const configdrive = { meta_data: { hostname: machine.name }, user_data: 'a user secret' }
      await service.client.provision(node.uuid, 'active', { configdrive })
      await sleep(moment)
      await service.process().kill()
      const open = await secretsForOthers(service.state, tokensOf(machine))
      assert.deepEqual(open, [], `files with secrets that others can read, killed after ${moment} ms`)
      await service.restart()
      const settled = await service.client.waitFor(node.uuid, ['deploy failed', 'active', 'available'], {
        limit: 120_000,
      })
      assert.equal(settled.reservation, null)
      if (settled.provision_state === 'deploy failed')
        assert.ok(settled.last_error, `no reason told, killed after ${moment} ms`)
      if (settled.provision_state !== 'available') await bring(service.client, node.uuid, 'deleted', 'available', life)
    }
    for (const [index, machine] of lab.machines.entries()) {
      const node = nodes[index]
      assert.ok(node !== undefined)
      await deployImage(service.client, machine, node.uuid, life)
      await checkDisk(machine, life.image)
    }
  })
})
