/** Bad input and broken neighbours: each ends in the right state, with a sentence, and the node goes on from there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { IronicAnswerError } from '../../src/lab/client.ts'
import type { IronicClient, ShownNode } from '../../src/lab/client.ts'
import { startLab } from '../../src/lab/lab.ts'
import type { Lab, LabMachine } from '../../src/lab/lab.ts'
import { sha256Of } from '../../src/lab/media/sample-image.ts'
import { bring, checkDisk, lastEvent } from '../../src/lab/scenario/life.ts'
import type { LifeOptions } from '../../src/lab/scenario/life.ts'
import { quickTimings } from '../../src/lab/timings.ts'
import { startServiceUnderTest } from './service-under-test.ts'
import type { ServiceUnderTest } from './service-under-test.ts'

const run = promisify(execFile)
const settings = {
  'redfish.connection_attempts': 2,
  'redfish.connection_retry_interval': 1,
  'conductor.deploy_callback_timeout': 12,
  'conductor.clean_callback_timeout': 12,
  'conductor.inspect_wait_timeout': 12,
  'conductor.check_provision_state_interval': 2,
  'agent.command_timeout': 2,
  'agent.max_command_attempts': 2,
  'agent.require_tls': true,
}

/** Wants a refusal. @returns status and sentence */
async function refused(call: Promise<unknown>): Promise<{ status: number; sentence: string }> {
  try {
    await call
  } catch (error) {
    if (error instanceof IronicAnswerError) return { status: error.status, sentence: error.message }
    throw error
  }
  throw new assert.AssertionError({ message: 'the request was not refused' })
}

describe('bad input and faults', { timeout: 900_000 }, () => {
  const stack = new AsyncDisposableStack()
  let service: ServiceUnderTest
  let client: IronicClient
  let lab: Lab
  let life: LifeOptions
  let next = 0
  before(async () => {
    service = await startServiceUnderTest({ set: settings })
    stack.defer(() => service.close())
    const timings = { ...quickTimings, ramdisk: 300, downloadPause: 20 }
    lab = await startLab({ machines: 17, directory: join(service.directory, 'lab'), timings, tls: true })
    stack.defer(() => lab.close())
    client = service.client
    const { images, materials } = service
    const image = {
      url: `${images.url}/${materials.names.image}`,
      path: materials.image.path,
      sha256: materials.image.sha256,
    }
    life = { image, inspect: 'redfish', limit: 60_000, every: 100, clean: false }
  })
  after(() => stack.disposeAsync())

  /** A machine that no other test has, and a node for it with these fields of driver_info. */
  async function node(more: Record<string, unknown> = {}): Promise<{ machine: LabMachine; uuid: string }> {
    const machine = lab.machines[next++]
    assert.ok(machine !== undefined)
    const driverInfo: Record<string, unknown> = { ...machine.driverInfo, redfish_verify_ca: false, ...more }
    for (const [name, value] of Object.entries(driverInfo)) if (value === null) delete driverInfo[name]
    const { uuid } = await client.createNode({
      name: machine.name,
      driver: 'redfish',
      driver_info: driverInfo,
      automated_clean: false,
      properties: { capabilities: 'boot_mode:uefi' },
    })
    await client.createPort(uuid, machine.mac)
    return { machine, uuid }
  }

  async function available(more: Record<string, unknown> = {}) {
    const made = await node(more)
    await bring(client, made.uuid, 'manage', 'manageable', life)
    await bring(client, made.uuid, 'provide', 'available', life)
    return made
  }

  /** Sets the image. Fields that are null are left out. */
  async function setImage(uuid: string, more: Record<string, unknown> = {}): Promise<void> {
    const info: Record<string, unknown> = {
      image_source: life.image.url,
      image_os_hash_algo: 'sha256',
      image_os_hash_value: life.image.sha256,
      image_disk_format: 'raw',
      ...more,
    }
    for (const [name, value] of Object.entries(info)) if (value === null) delete info[name]
    await client.patch(uuid, { '/instance_info': info })
  }

  /** Waits for a failed deployment. @returns the reason that is told, by the node or by its history */
  async function deployFails(uuid: string): Promise<string> {
    const failed = await client.waitFor(uuid, ['deploy failed', 'active'], { limit: 120_000, every: 100 })
    assert.equal(failed.provision_state, 'deploy failed')
    return failed.last_error ?? (await lastEvent(client, uuid)) ?? ''
  }

  /** The ordinary way on: deploy again with the right image. */
  async function deploysAfterAll(machine: LabMachine, uuid: string): Promise<void> {
    await setImage(uuid)
    const configdrive = { meta_data: { hostname: machine.name } }
    await bring(client, uuid, 'active', 'active', life, { configdrive })
    await checkDisk(machine, life.image)
  }

  /** Manages a node that must come back to enroll. @returns the reason */
  async function manageFails(uuid: string): Promise<string> {
    await client.provision(uuid, 'manage')
    const back = await client.waitFor(uuid, ['enroll', 'manageable'], { limit: 60_000, every: 100 })
    let seen: ShownNode = back
    for (let n = 0; n < 300 && (seen.last_error === null || seen.target_provision_state !== null); n++) {
      await new Promise((go) => setTimeout(go, 100))
      seen = await client.node(uuid)
    }
    assert.equal(seen.provision_state, 'enroll')
    return seen.last_error ?? ''
  }

  test('an unknown driver and a disabled interface are refused by name', async () => {
    const driver = await refused(client.call('POST', '/v1/nodes', { driver: 'teletype' }))
    assert.equal(driver.status, 404 === driver.status ? 404 : 400)
    assert.match(driver.sentence, /teletype/)
    const face = await refused(client.call('POST', '/v1/nodes', { driver: 'redfish', boot_interface: 'ilo-ipxe' }))
    assert.equal(face.status, 400)
    assert.match(face.sentence, /ilo-ipxe/)
  })

  test('driver_info without an address: enroll with a reason; set, and it goes on', async () => {
    const { machine, uuid } = await node({ redfish_address: null })
    assert.match(await manageFails(uuid), /redfish_address/)
    await client.patch(uuid, { '/driver_info/redfish_address': machine.driverInfo['redfish_address'] })
    await bring(client, uuid, 'manage', 'manageable', life)
  })

  test('a BMC that nobody reaches, a wrong password, a certificate that nobody vouches for', async () => {
    const reasons: [Record<string, unknown>, RegExp][] = [
      [{ redfish_address: 'https://127.0.0.1:9' }, /127\.0\.0\.1:9/],
      [{ redfish_password: 'wrong' }, /password|user|credentials|401|log ?in/i],
      [{ redfish_verify_ca: true }, /certificate/i],
    ]
    for (const [wrong, told] of reasons) {
      const { machine, uuid } = await node(wrong)
      assert.match(await manageFails(uuid), told)
      await client.patch(uuid, {
        '/driver_info/redfish_address': machine.driverInfo['redfish_address'],
        '/driver_info/redfish_password': machine.driverInfo['redfish_password'],
        '/driver_info/redfish_verify_ca': false,
      })
      await bring(client, uuid, 'manage', 'manageable', life)
      assert.equal((await client.node(uuid)).last_error, null)
    }
  })

  test('an image that is not there', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid, { image_source: `${service.images.url}/nothing.raw` })
    let reason: string
    try {
      await client.provision(uuid, 'active')
      reason = await deployFails(uuid)
    } catch (error) {
      if (!(error instanceof IronicAnswerError)) throw error
      assert.equal(error.status, 400)
      reason = error.message
    }
    assert.match(reason, /nothing\.raw/)
    await deploysAfterAll(machine, uuid)
  })

  test('a wrong checksum, found by the agent', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid, { image_os_hash_value: '0'.repeat(64) })
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /checksum/i)
    assert.equal(machine.machine.power, 'Off')
    await deploysAfterAll(machine, uuid)
  })

  test('a wrong checksum, found by the conductor', async () => {
    const { machine, uuid } = await available({ image_download_source: 'local' })
    await setImage(uuid, { image_os_hash_value: '0'.repeat(64) })
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /checksum/i)
    await deploysAfterAll(machine, uuid)
  })

  test('a qcow2 image that is said to be raw, and one with a backing file', async () => {
    const folder = service.materials.directory
    await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', life.image.path, join(folder, 'system.qcow2')])
    await run('qemu-img', [
      'create',
      '-f',
      'qcow2',
      '-b',
      '/etc/shadow',
      '-F',
      'raw',
      join(folder, 'backed.qcow2'),
      '16M',
    ])
    const { machine, uuid } = await available({ image_download_source: 'local' })
    const cases: [string, string, RegExp][] = [
      ['system.qcow2', 'raw', /raw.*qcow2|qcow2.*raw/is],
      ['backed.qcow2', 'qcow2', /backing|data file|safety/i],
    ]
    for (const [file, format, told] of cases) {
      const sum = await sha256Of(join(folder, file))
      await setImage(uuid, {
        image_source: `${service.images.url}/${file}`,
        image_disk_format: format,
        image_os_hash_value: sum,
      })
      await client.provision(uuid, 'active')
      assert.match(await deployFails(uuid), told)
      assert.equal(await machine.machine.disk.partitions(), null, 'something was written')
    }
    const sum = await sha256Of(join(folder, 'system.qcow2'))
    await setImage(uuid, {
      image_source: `${service.images.url}/system.qcow2`,
      image_disk_format: 'qcow2',
      image_os_hash_value: sum,
    })
    await bring(client, uuid, 'active', 'active', life, { configdrive: { meta_data: {} } })
    await checkDisk(machine, life.image)
  })

  test('an agent that stops answering: the deployment times out', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid)
    machine.agentFaults.commands = [{ answer: 'hang' }]
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /agent|time/i)
    machine.agentFaults.commands = []
    await deploysAfterAll(machine, uuid)
  })

  test('an agent that never reports: the deployment times out', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid)
    machine.agentFaults.mute = true
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /time/i)
    machine.agentFaults.mute = false
    await deploysAfterAll(machine, uuid)
  })

  test('an agent that never hands over what it found: inspection and cleaning time out, and go on', async () => {
    const { machine, uuid } = await node({})
    await client.patch(uuid, { '/inspect_interface': 'agent', '/automated_clean': true })
    await bring(client, uuid, 'manage', 'manageable', life)
    machine.agentFaults.mute = true
    for (const [verb, failed] of [
      ['inspect', 'inspect failed'],
      ['provide', 'clean failed'],
    ] as const) {
      await client.provision(uuid, verb)
      await client.waitFor(uuid, [failed], { limit: 60_000, every: 100 })
      const shown = await client.node(uuid)
      assert.match(shown.last_error ?? (await lastEvent(client, uuid)) ?? '', /time/i)
      if (shown.maintenance) await client.call('DELETE', `/v1/nodes/${uuid}/maintenance`)
      await bring(client, uuid, 'manage', 'manageable', life)
    }
    machine.agentFaults.mute = false
    await bring(client, uuid, 'inspect', 'manageable', life)
    await bring(client, uuid, 'provide', 'available', life)
  })

  test('heartbeats with a wrong token, by plain HTTP, or of nobody are refused', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid)
    machine.agentFaults.wrongToken = true
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /time/i)
    const refusals = machine.machine.console.filter((line) => line.includes('heartbeat refused'))
    assert.ok(
      refusals.some((line) => /: 400 .*token/i.test(line)),
      refusals.join('\n'),
    )
    machine.agentFaults.wrongToken = false
    machine.agentFaults.plainHttp = true
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /time/i)
    const plain = machine.machine.console.filter((line) => line.includes('heartbeat refused'))
    assert.ok(
      plain.some((line) => /: 400 .*(https|tls)/i.test(line)),
      plain.join('\n'),
    )
    machine.agentFaults.plainHttp = false
    const beat = (node: string, body: unknown) => refused(client.call('POST', `/v1/heartbeat/${node}`, body))
    const callback_url = 'https://127.0.0.1:9999'
    assert.equal((await beat(uuid, { callback_url })).status, 400)
    assert.equal((await beat('11111111-1111-4111-8111-111111111111', { callback_url, agent_token: 'x' })).status, 404)
    await deploysAfterAll(machine, uuid)
  })

  test('a BMC that fails in the middle: busy, cut off, sessions lost', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid)
    const { faults } = machine.bmc
    faults.add({ method: 'GET', path: /Systems\//, after: 3, times: 2, answer: { status: 503, body: {} } })
    faults.add({ method: 'GET', path: /VirtualMedia/, times: 1, answer: 'reset' })
    faults.add({ path: /Systems\//, after: 6, times: 1, answer: 'pass', effect: 'lose sessions' })
    await deploysAfterAll(machine, uuid)
  })

  test('a BMC that refuses its medium: the deployment fails with what it said', async () => {
    const { machine, uuid } = await available()
    await setImage(uuid)
    const body = { error: { code: 'Base.1.0.GeneralError', message: 'the drive is on strike' } }
    machine.bmc.faults.add({ method: 'POST', path: /InsertMedia/, answer: { status: 400, body } })
    await client.provision(uuid, 'active')
    assert.match(await deployFails(uuid), /strike/)
    machine.bmc.faults.clear()
    await deploysAfterAll(machine, uuid)
  })
})
