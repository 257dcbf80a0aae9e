import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { testContext } from '../../../src/conductor/for-tests.ts'
import type { Node } from '../../../src/objects/index.ts'
import { type AgentConductor, agentToken, startAgentConductor } from '../../peers/agent-conductor.ts'
import { recordingNamed, type Replay, replayAgent } from './replay.ts'

interface Run extends AgentConductor {
  readonly replay: Replay
  /** the requests of the recording, in order */
  readonly asked: Record<string, unknown>[]
}

async function start(t: TestContext, name: string, values: Partial<Node>): Promise<Run> {
  const recording = recordingNamed(name)
  const replay = await replayAgent(recording)
  const running = await startAgentConductor(t, replay.agent, values, {
    agent: { deploy_logs_collect: 'always' },
    deploy: { erase_devices_priority: 0, erase_devices_metadata_priority: 10 },
  })
  const asked = recording.entries.filter((entry) => entry.client === 'PUT').map((entry) => entry.body)
  return { ...running, replay, asked }
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
    const node = await run.untilDone()
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
  const node = await run.untilDone()
  checkSaid(run.replay)
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
  assert.deepEqual(run.replay.said(), run.replay.recorded)
})

test('tear down and cleaning say no more to the agent than was recorded', async (t) => {
  const run = await start(t, 'a11-teardown-clean', { provision_state: 'active', power_state: 'power on' })
  await run.conductor.rpc.do_node_tear_down(testContext, { node_id: run.node.uuid! })
  const node = await run.untilDone()
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
    const node = await run.untilDone()
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
  const node = await run.untilDone()
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

const deployAsked = (run: Run) => run.asked.find(({ target }) => target === 'active')!

async function deploy(run: Run): Promise<Node> {
  const asked = deployAsked(run)
  await run.conductor.rpc.do_node_deploy(testContext, {
    node_id: run.node.uuid!,
    configdrive: asked['configdrive'] as Record<string, unknown>,
    deploy_steps: (asked['deploy_steps'] as Record<string, unknown>[] | undefined) ?? [],
  })
  return await run.untilDone()
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
    await run.change({ instance_info: deployInfo(run.images, 'target.raw', hash, 'raw') })
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
  await run.change({
    instance_info: deployInfo(run.images, 'target.raw', hash, 'raw'),
    driver_internal_info: {
      agent_url: run.replay.agent.url,
      agent_last_heartbeat: new Date().toISOString().replace('Z', '000'),
      agent_secret_token: agentToken,
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
  await run.change({
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
