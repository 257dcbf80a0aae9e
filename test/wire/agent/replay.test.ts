import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ConfigOverrides } from '../../../src/config/for-tests.ts'
import {
  createTestNode,
  startTestConductor,
  type TestConductor,
  testContext,
} from '../../../src/conductor/for-tests.ts'
import { FakeBoot } from '../../../src/drivers/fake/boot.ts'
import { FakeManagement } from '../../../src/drivers/fake/management.ts'
import { interfaceClasses } from '../../../src/drivers/interface-classes.ts'
import type { Task } from '../../../src/drivers/task.ts'
import type { Node } from '../../../src/objects/index.ts'
import { recordingNamed, type Replay, replayAgent } from './replay.ts'

const token = 'the-token-of-this-run'

/** Boots with a token in the image, as virtual media does. */
class TokenBoot extends FakeBoot {
  override async prepareRamdisk(task: Task): Promise<void> {
    task.node.driver_internal_info = {
      ...task.node.driver_internal_info,
      agent_secret_token: token,
      agent_secret_token_pregenerated: true,
    }
    await task.save()
  }
  override validateRescue(): Promise<void> {
    return Promise.resolve()
  }
}

/** Knows disks. */
class DiskManagement extends FakeManagement {
  override supportedBootDevices(): Promise<string[]> {
    return Promise.resolve(['pxe', 'disk'])
  }
  override setBootDevice(): Promise<void> {
    return Promise.resolve()
  }
}

/** Serves `/target.raw`, `/target.qcow2` and what the conductor publishes. */
async function imageServer(t: TestContext, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(folder, 'http', request.url!)
    stat(path).then(
      ({ size }) => {
        response.writeHead(200, { 'content-length': size })
        if (request.method === 'HEAD') response.end()
        else createReadStream(path).pipe(response)
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Run {
  readonly conductor: TestConductor
  readonly replay: Replay
  readonly node: Node
  /** the requests of the recording, in order */
  readonly asked: Record<string, unknown>[]
  readonly folder: string
  readonly images: string
}

async function start(
  t: TestContext,
  name: string,
  values: Partial<Node>,
  overrides: ConfigOverrides = {},
): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'wire-agent-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const images = await imageServer(t, folder)
  execFileSync('mkdir', [join(folder, 'http')])
  const recording = recordingNamed(name)
  const replay = await replayAgent(recording)
  const conductor = await startTestConductor({
    interfaces: {
      ...interfaceClasses,
      boot: { ...interfaceClasses.boot, fake: TokenBoot },
      management: { ...interfaceClasses.management, fake: DiskManagement },
    },
    config: {
      ...overrides,
      DEFAULT: {
        enabled_deploy_interfaces: ['direct'],
        enabled_rescue_interfaces: ['agent'],
        enabled_raid_interfaces: ['no-raid'],
        default_deploy_interface: 'direct',
        default_storage_interface: 'noop',
        ...overrides.DEFAULT,
      },
      agent: {
        require_tls: false,
        deploy_logs_collect: 'always',
        deploy_logs_local_path: join(folder, 'logs'),
        command_wait_interval: 0,
        // the machine does not go down by itself: look once, then force it
        post_deploy_get_power_state_retries: 0,
        ...overrides.agent,
      },
      deploy: {
        erase_devices_priority: 0,
        erase_devices_metadata_priority: 10,
        http_url: images,
        http_root: join(folder, 'http'),
        ...overrides.deploy,
      },
      pxe: { images_path: join(folder, 'images'), instance_master_path: join(folder, 'master') },
      service_catalog: { endpoint_override: 'http://127.0.0.1:6385/' },
    },
  })
  t.after(async () => {
    await conductor[Symbol.asyncDispose]()
    await replay.agent.close()
  })
  const node = await createTestNode(conductor, {
    name: 'node-a',
    power_state: 'power off',
    boot_interface: 'fake',
    raid_interface: 'no-raid',
    properties: { cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi', vendor: 'E2E' },
    ...values,
  })
  const asked = recording.entries.filter((entry) => entry.client === 'PUT').map((entry) => entry.body)
  return { conductor, replay, node, asked, folder, images }
}

const waiting = new Set(['clean wait', 'wait call-back', 'service wait', 'rescue wait'])

/** Lets the agent send heartbeats while it is waited for. */
async function untilDone({ conductor, replay, node }: Run, mostHeartbeats = 30): Promise<Node> {
  for (let count = 0; count < mostHeartbeats; count++) {
    await conductor.settled()
    const now = await conductor.node(node.uuid!)
    if (!waiting.has(now.provision_state ?? '')) return now
    await conductor.rpc.heartbeat(testContext, {
      node_id: node.uuid!,
      callback_url: replay.agent.url,
      agent_version: '13.0.0',
      agent_token: token,
    })
  }
  throw new Error(`still ${(await conductor.node(node.uuid!)).provision_state}`)
}

function checkSaid(replay: Replay): void {
  assert.deepEqual(replay.problems, [])
  assert.ok(replay.said().length > 0)
}

const steps = (asked: Record<string, unknown>, key: string) => asked[key] as Record<string, unknown>[]

for (const [name, end] of [
  ['a03-clean-manual-agent-step', 'manageable'],
  ['a04-clean-agent-step-fails', 'clean failed'],
  ['a16-agent-closes-connection', 'manageable'],
  ['a17-agent-unreachable', 'clean failed'],
  ['a29-secrets-masked', 'manageable'],
] as const) {
  test(`manual cleaning says no more to the agent than was recorded: ${name}`, async (t) => {
    const secret = 'planted-marker'
    const run = await start(t, name, {
      provision_state: 'manageable',
      driver_info: { redfish_password: secret, my_secret: secret, api_token: secret, snmp_community: secret },
    })
    const clean_steps = steps(run.asked[0]!, 'clean_steps')
    await run.conductor.rpc.do_node_clean(testContext, { node_id: run.node.uuid!, clean_steps })
    const node = await untilDone(run)
    checkSaid(run.replay)
    assert.equal(node.provision_state, end, node.last_error ?? '')
    assert.deepEqual(run.replay.said(), run.replay.recorded)
    assert.ok(!JSON.stringify(run.replay.agent.heard.map(({ params }) => params as unknown)).includes(secret))
    if (name.startsWith('a04'))
      assert.match(node.last_error!, /^Clean step deploy\.v2_fail failed on node .*on purpose/)
    if (name.startsWith('a17')) assert.match(node.last_error!, /^Node failed to start the first cleaning step: /)
  })
}

test('automated cleaning says no more to the agent than was recorded', async (t) => {
  const run = await start(t, 'a05-provide-automated-clean', { provision_state: 'manageable' })
  await run.conductor.rpc.do_provisioning_action(testContext, { node_id: run.node.uuid!, action: 'provide' })
  const node = await untilDone(run)
  checkSaid(run.replay)
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
  assert.deepEqual(run.replay.said(), run.replay.recorded)
})

test('tear down and cleaning say no more to the agent than was recorded', async (t) => {
  const run = await start(t, 'a11-teardown-clean', { provision_state: 'active', power_state: 'power on' })
  await run.conductor.rpc.do_node_tear_down(testContext, { node_id: run.node.uuid! })
  const node = await untilDone(run)
  checkSaid(run.replay)
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
})

test('a rescue says no more to the agent than was recorded', async (t) => {
  for (const [name, end] of [
    ['a08-rescue', 'rescue'],
    ['a08x-rescue-agent-answers-500', 'rescue failed'],
  ] as const) {
    const run = await start(t, name, { provision_state: 'active', power_state: 'power on' })
    await run.conductor.rpc.do_node_rescue(testContext, { node_id: run.node.uuid!, rescue_password: 'clear text' })
    const node = await untilDone(run)
    checkSaid(run.replay)
    assert.equal(node.provision_state, end, node.last_error ?? '')
    assert.match(run.replay.agent.heard[0]!.params.rescue_password as string, /^\$5\$/)
    assert.ok(!JSON.stringify(node.instance_info).includes('password'))
  }
})

test('servicing says no more to the agent than was recorded', async (t) => {
  const run = await start(t, 'a10-service-agent-steps', { provision_state: 'active', power_state: 'power on' })
  const service_steps = steps(run.asked[0]!, 'service_steps')
  await run.conductor.rpc.do_node_service(testContext, { node_id: run.node.uuid!, service_steps })
  const node = await untilDone(run)
  // the original forgets the agent's address first, and then cannot ask it for the logs that it was told to keep
  const logs = 'log.collect_system_logs'
  const { problems } = run.replay
  assert.deepEqual(
    problems.filter(({ message }) => !message.startsWith(logs)),
    [],
  )
  assert.deepEqual(
    run.replay.said().filter((name) => name !== logs),
    run.replay.recorded,
  )
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
})

const content = Buffer.alloc(1024 * 1024, 'disk')
const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex')

const deployInfo = (images: string, file: string, hash: string, format: string) => ({
  image_source: `${images}/${file}`,
  image_os_hash_algo: 'sha256',
  image_os_hash_value: hash,
  image_type: 'whole-disk',
  image_disk_format: format,
  capabilities: { boot_option: 'local' },
})

async function setInstance({ conductor, node }: Run, values: Partial<Node>): Promise<void> {
  const fresh = await conductor.node(node.uuid!)
  await conductor.rpc.update_node(testContext, {
    node_obj: { data: { ...fresh, ...values }, changes: Object.keys(values) as (keyof Node)[] },
  })
}

const deployAsked = (run: Run) => run.asked.find(({ target }) => target === 'active')!

async function deploy(run: Run): Promise<Node> {
  const asked = deployAsked(run)
  await run.conductor.rpc.do_node_deploy(testContext, {
    node_id: run.node.uuid!,
    configdrive: asked['configdrive'] as Record<string, unknown>,
    deploy_steps: (asked['deploy_steps'] as Record<string, unknown>[] | undefined) ?? [],
  })
  return await untilDone(run)
}

for (const [name, end] of [
  ['a06-deploy-http-raw', 'active'],
  ['a14-deploy-bad-checksum', 'deploy failed'],
] as const) {
  test(`a deploy says no more to the agent than was recorded: ${name}`, async (t) => {
    const run = await start(t, name, { provision_state: 'available' })
    await writeFile(join(run.folder, 'http', 'target.raw'), content)
    const recorded = run.replay.agent
    const hash = name.startsWith('a14')
      ? '0'.repeat(64)
      : '4efb03d2fef391ab5a702051015edaf6c9215019a3c0094f54c2c495f8af2a58'
    await setInstance(run, { instance_info: deployInfo(run.images, 'target.raw', hash, 'raw') })
    const node = await deploy(run)
    checkSaid(run.replay)
    assert.equal(node.provision_state, end, node.last_error ?? '')
    const written = recorded.heard.find(({ command }) => command === 'deploy.execute_deploy_step')!
    assert.deepEqual(written.params.step.args.image_info.urls, [`${run.images}/target.raw`])
    if (end === 'deploy failed') assert.match(node.last_error!, /Image failed to verify against checksum/)
    if (end === 'active') assert.equal(node.power_state, 'power on')
  })
}

test('a deploy with the agent running already says no more to it than was recorded', async (t) => {
  const run = await start(t, 'a23-fast-track-deploy', {
    provision_state: 'available',
    power_state: 'power on',
    driver_info: { fast_track: true },
  })
  await writeFile(join(run.folder, 'http', 'target.raw'), content)
  const hash = '4efb03d2fef391ab5a702051015edaf6c9215019a3c0094f54c2c495f8af2a58'
  await setInstance(run, {
    instance_info: deployInfo(run.images, 'target.raw', hash, 'raw'),
    driver_internal_info: {
      agent_url: run.replay.agent.url,
      agent_last_heartbeat: new Date().toISOString().replace('Z', '000'),
      agent_secret_token: token,
      agent_secret_token_pregenerated: true,
    },
  })
  const node = await deploy(run)
  checkSaid(run.replay)
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
})

const converter = (() => {
  try {
    execFileSync('qemu-img', ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'qemu-img is not installed'
  }
})()

test('a deploy of a converted image says no more to the agent than was recorded', { skip: converter }, async (t) => {
  const run = await start(t, 'a12-deploy-local-qcow2', { provision_state: 'available' })
  const raw = join(run.folder, 'raw')
  const qcow2 = join(run.folder, 'http', 'target.qcow2')
  await writeFile(raw, content)
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2])
  const hash = execFileSync('sha256sum', [qcow2]).toString().slice(0, 64)
  await setInstance(run, {
    driver_info: { image_download_source: 'local' },
    instance_info: deployInfo(run.images, 'target.qcow2', hash, 'qcow2'),
  })
  const node = await deploy(run)
  const written = run.replay.agent.heard.find(({ command }) => command === 'deploy.execute_deploy_step')!
  const info = written.params.step.args.image_info as Record<string, unknown>
  assert.equal(info['os_hash_value'], sha256(content))
  assert.deepEqual(info['urls'], [`${run.images}/agent_images/${node.uuid}`])
  assert.equal(info['disk_format'], 'raw')
  // the recording is of another image: its checksum is what differs
  const problems = run.replay.problems.filter(({ message }) => !message.includes('os_hash_value'))
  assert.deepEqual(problems, [])
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
})
