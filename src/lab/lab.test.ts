import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { startLab } from './lab.ts'
import type { LabMachine, LabOptions } from './lab.ts'
import { sampleEspImage } from './media/sample-image.ts'
import { startFileServer } from './scenario/file-server.ts'
import { checkDisk } from './scenario/life.ts'
import { makeMaterials } from './scenario/materials.ts'
import { quickTimings } from './timings.ts'

const run = promisify(execFile)
const token = 'a-token-of-more-than-thirty-two-characters'
const nodeUuid = '0a1b2c3d-0000-4000-8000-000000000001'

interface Call {
  method: string
  url: string
  version: string
  body: Record<string, unknown>
}

/** The conductor's half, by hand: an API that knows one node, a boot ISO, and commands to the agent. */
async function surroundings(context: TestContext, more: Partial<LabOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'lab-test-'))
  const calls: Call[] = []
  const heartbeatStatus = { value: 202 }
  const config = {
    heartbeat_timeout: 300,
    agent_token: '******',
    agent_md5_checksum_enable: false,
    permitted_image_formats: ['raw', 'qcow2', 'gpt'],
    tls_min_version: '1.3',
  }
  const api = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const url = incoming.url ?? ''
      const text = Buffer.concat(chunks).toString()
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      calls.push({
        method: incoming.method ?? '',
        url,
        version: String(incoming.headers['x-openstack-ironic-api-version']),
        body,
      })
      if (url.startsWith('/v1/lookup'))
        response.end(JSON.stringify({ node: { uuid: nodeUuid, properties: {} }, config }))
      else if (url.startsWith('/v1/heartbeat')) response.writeHead(heartbeatStatus.value).end()
      else response.end('{}')
    })
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  const materials = await makeMaterials(directory, { imageSize: 12 * 1024 * 1024 })
  const files = await startFileServer(materials.directory)
  const timings = {
    ...quickTimings,
    ramdisk: 20,
    powerOn: 20,
    powerOff: 20,
    shutdown: 20,
    firmware: 20,
    heartbeatPause: 60,
    downloadPause: 5,
  }
  const lab = await startLab({ machines: 1, directory: join(directory, 'lab'), timings, ...more })
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  context.after(async () => {
    await lab.close()
    await dispatcher.close()
    await files.close()
    api.closeAllConnections()
    await new Promise((resolve) => api.close(resolve))
    await rm(directory, { recursive: true, force: true })
  })
  const machine = lab.machines[0] as LabMachine
  const tree = join(directory, 'tree')
  await mkdir(join(tree, 'EFI/BOOT'), { recursive: true })
  await writeFile(join(tree, 'vmlinuz'), 'kernel')
  await writeFile(join(tree, 'initrd'), 'ramdisk')
  await writeFile(join(tree, 'efiboot.img'), sampleEspImage())
  const boot = async (parameters: string) => {
    await writeFile(join(tree, 'EFI/BOOT/grub.cfg'), `linuxefi /vmlinuz ${parameters} --\ninitrdefi /initrd\n`)
    const iso = join(materials.directory, 'boot.iso')
    await run('xorriso', ['-as', 'mkisofs', '-r', '-e', 'efiboot.img', '-no-emul-boot', '-o', iso, tree])
    const slot = machine.machine.media[0]
    assert.ok(slot !== undefined)
    slot.image = `${files.url}/boot.iso`
    Object.assign(machine.machine.boot, { enabled: 'Once', target: 'Cd' })
    machine.machine.reset('On')
  }
  const heartbeat = async (count = 1) => {
    for (;;) {
      const beats = calls.filter((call) => call.url.startsWith('/v1/heartbeat'))
      if (beats.length >= count) return beats[count - 1] as Call
      await sleep(10, undefined, { signal: AbortSignal.timeout(5000) })
    }
  }
  const command = async (name: string, params: unknown, { wait = true, given = token } = {}) => {
    const beat = await heartbeat()
    const url = `${String(beat.body['callback_url'])}/v1/commands/?wait=${wait}&agent_token=${given}`
    const answer = await request(url, { method: 'POST', dispatcher, body: JSON.stringify({ name, params }) })
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> }
  }
  return { machine, calls, apiUrl, boot, heartbeat, command, heartbeatStatus, files, materials, dispatcher }
}

const kernelLine = (apiUrl: string) => `ipa-api-url=${apiUrl} ipa-agent-token=${token} boot_method=vmedia`
const beginsWith = (prefix: string) => (call: Call) => call.url.startsWith(prefix)

test('an agent looks itself up, beats with its own certificate, and answers only its token', async (context) => {
  const { machine, calls, apiUrl, boot, heartbeat, command } = await surroundings(context)
  await boot(kernelLine(apiUrl))
  const beat = await heartbeat()
  assert.deepEqual(
    calls.slice(0, 3).map((call) => call.url),
    ['/', `/v1/lookup?addresses=${encodeURIComponent(machine.mac)}`, `/v1/heartbeat/${nodeUuid}`],
  )
  assert.deepEqual(
    calls.slice(1, 3).map((call) => call.version),
    ['1.62', '1.68'],
  )
  assert.equal(beat.body['agent_token'], token)
  assert.equal(beat.body['agent_version'], '13.0.0')
  const ca = String(beat.body['agent_verify_ca'])
  const trusting = new Agent({ connect: { ca } })
  const status = await request(`${String(beat.body['callback_url'])}/v1/status`, { dispatcher: trusting })
  assert.equal(((await status.body.json()) as Record<string, unknown>)['version'], '13.0.0')
  await trusting.close()
  assert.equal((await command('clean.get_clean_steps', {}, { given: 'other' })).status, 401)
  const steps = await command('clean.get_clean_steps', { node: {}, ports: [] })
  assert.equal(steps.body['command_status'], 'SUCCEEDED')
  assert.equal((await command('nothing.at_all', {})).status, 404)
  assert.equal((await command('clean.unknown', {})).status, 400)
})

test('an agent writes an image with its config drive, turns itself off, and the machine boots it', async (context) => {
  const { machine, apiUrl, boot, heartbeat, command, files, materials, calls } = await surroundings(context)
  await boot(kernelLine(apiUrl))
  const image = {
    url: `${files.url}/${materials.names.image}`,
    path: materials.image.path,
    sha256: materials.image.sha256,
  }
  const info = {
    id: 'lab-system.raw',
    urls: [image.url],
    disk_format: 'raw',
    stream_raw_images: true,
    os_hash_algo: 'sha256',
    os_hash_value: image.sha256,
  }
  const args = { image_info: info, configdrive: Buffer.from('no ISO').toString('base64') }
  const step = { step: 'write_image', interface: 'deploy', args }
  const started = await command('deploy.execute_deploy_step', { step, node: {}, ports: [] }, { wait: false })
  assert.equal(started.body['command_status'], 'RUNNING')
  const busy = await command('log.collect_system_logs', {})
  assert.deepEqual(
    [busy.status, busy.body['faultstring']],
    [409, 'Agent is busy: executing command execute_deploy_step'],
  )
  await heartbeat(2)
  const uuids = await command('standby.get_partition_uuids', {})
  assert.deepEqual(uuids.body['command_result'], { 'root uuid': '0x00000000' })
  await checkDisk(machine, image)
  assert.ok(calls.some(beginsWith(`/v1/lookup?addresses=${encodeURIComponent(machine.mac)}&node_uuid=`)))
  await command('standby.power_off', {}, { wait: false })
  await sleep(80)
  assert.equal(machine.machine.power, 'Off')
  machine.machine.reset('On')
  await sleep(200)
  assert.deepEqual(machine.machine.running, { kind: 'system', marker: 'lab-system', hostname: null })
})

test('a wrong checksum fails the step after all attempts, with the sums in its details', async (context) => {
  const { apiUrl, boot, heartbeat, command, files, materials, dispatcher } = await surroundings(context)
  await boot(kernelLine(apiUrl))
  const wrong = '0'.repeat(64)
  const info = {
    id: 'i',
    urls: [`${files.url}/${materials.names.image}`],
    disk_format: 'raw',
    stream_raw_images: true,
    checksum: wrong,
  }
  await command(
    'deploy.execute_deploy_step',
    { step: { step: 'write_image', args: { image_info: info } } },
    { wait: false },
  )
  const beat = await heartbeat(2)
  const list = await request(`${String(beat.body['callback_url'])}/v1/commands/?agent_token=${token}`, { dispatcher })
  const { commands } = (await list.body.json()) as { commands: Record<string, Record<string, unknown>>[] }
  const last = commands.at(-1)
  assert.equal(last?.['command_status'], 'FAILED')
  assert.equal(last['command_error']?.['type'], 'ImageChecksumError')
  assert.match(String(last['command_error']?.['details']), new RegExp(`${wrong}.*${materials.image.sha256}`))
})

test('inspection hands over the inventory and neither looks up nor beats', async (context) => {
  const { machine, calls, apiUrl, boot } = await surroundings(context)
  await boot(`ipa-inspection-callback-url=${apiUrl}/v1/continue_inspection ipa-agent-token=${token}`)
  for (let n = 0; n < 200 && !calls.some(beginsWith('/v1/continue')); n++) await sleep(20)
  const [posted] = calls
  assert.equal(posted?.url, '/v1/continue_inspection')
  const inventory = posted.body['inventory'] as { interfaces: { mac_address: string }[]; boot: unknown }
  assert.equal(inventory.interfaces[0]?.mac_address, machine.mac)
  assert.deepEqual(inventory.boot, { current_boot_mode: 'uefi', pxe_interface: null })
  await sleep(50)
  assert.equal(calls.length, 1)
})

test('a heartbeat that is refused comes again, and faults of the agent act', async (context) => {
  const { machine, apiUrl, boot, heartbeat, heartbeatStatus, command } = await surroundings(context)
  heartbeatStatus.value = 409
  machine.agentFaults.plainHttp = true
  machine.agentFaults.commands = [{ method: 'POST', times: 1, answer: 'reset' }]
  await boot(kernelLine(apiUrl))
  const second = await heartbeat(2)
  assert.match(String(second.body['callback_url']), /^http:/)
  assert.equal(second.body['agent_verify_ca'], undefined)
  await assert.rejects(command('standby.sync', {}))
  assert.equal((await command('standby.sync', {})).body['command_status'], 'SUCCEEDED')
})

test('nothing of a machine lives on when its power is cut', async (context) => {
  const { machine, apiUrl, boot, heartbeat, command, calls } = await surroundings(context)
  await boot(kernelLine(apiUrl))
  await heartbeat()
  machine.machine.reset('ForceOff')
  await sleep(100)
  assert.equal(machine.machine.power, 'Off')
  await assert.rejects(command('standby.sync', {}))
  const before = calls.length
  await sleep(200)
  assert.equal(calls.length, before)
})
