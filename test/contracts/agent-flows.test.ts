/** What the agent does wrong, and what becomes of the node: real conductor, real agent client, an agent that is told what to say. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  type AgentForTests,
  commandResult,
  type Heard,
  type Said,
  startAgentForTests,
} from '../../src/agent/agent-for-tests.ts'
import { testContext } from '../../src/conductor/for-tests.ts'
import type { ConfigOverrides } from '../../src/config/for-tests.ts'
import type { Node } from '../../src/objects/index.ts'
import { type AgentConductor, startAgentConductor } from '../peers/agent-conductor.ts'

type Step = Record<string, unknown>

/** What the agent of a test offers, and how its commands end. */
interface Script {
  clean?: Step[]
  deploy?: Step[]
  /** by `interface.step` of an execute command, or by command name; what is not named succeeds */
  results?: Record<string, Said | ((heard: Heard) => Said)>
  /** does it no longer answer when its commands are asked for? */
  gone?: () => boolean
}

interface Commands {
  readonly agent: AgentForTests
  /** the list that the agent gives of itself */
  done: Record<string, unknown>[]
  script: Script
}

/** An agent that keeps its list of commands as the real one does. */
async function scriptedAgent(script: Script): Promise<Commands> {
  const state: { done: Record<string, unknown>[]; script: Script } = { done: [], script }
  const agent = await startAgentForTests((heard) => {
    if (heard.command === null) return state.script.gone?.() === true ? 'close' : { body: { commands: state.done } }
    const said = answerTo(heard, state.script)
    if (typeof said === 'object' && (said.status ?? 200) === 200) state.done.push(said.body as Record<string, unknown>)
    return said
  })
  return {
    agent,
    get done() {
      return state.done
    },
    set done(value) {
      state.done = value
    },
    get script() {
      return state.script
    },
    set script(value) {
      state.script = value
    },
  }
}

function answerTo(heard: Heard, { clean = [], deploy = [], results = {} }: Script): Said {
  const name = heard.command!
  const step = heard.params.step as Step | undefined
  const key = step === undefined ? name : `${String(step['interface'])}.${String(step['step'])}`
  const given = results[key]
  if (given !== undefined) return typeof given === 'function' ? given(heard) : given
  if (name === 'clean.get_clean_steps') {
    return commandResult(name, 'SUCCEEDED', { clean_steps: { manager: clean }, hardware_manager_version: { m: '1' } })
  }
  if (name === 'deploy.get_deploy_steps') {
    return commandResult(name, 'SUCCEEDED', { deploy_steps: { manager: deploy }, hardware_manager_version: { m: '1' } })
  }
  if (step !== undefined) {
    const phase = name.split('.')[0]!
    return commandResult(name, 'SUCCEEDED', { [`${phase}_result`]: null, [`${phase}_step`]: step })
  }
  if (name === 'standby.get_partition_uuids') return commandResult(name, 'SUCCEEDED', { 'root uuid': 'the-root' })
  if (name === 'log.collect_system_logs') {
    return commandResult(name, 'SUCCEEDED', { system_logs: Buffer.from('logs').toString('base64') })
  }
  return commandResult(name, 'SUCCEEDED')
}

const failed = (details: string) => (heard: Heard) =>
  commandResult(heard.command!, 'FAILED', null, { type: 'Error', code: 500, message: 'no', details })
const withStatus =
  (status: string) =>
  (heard: Heard): Said =>
    commandResult(heard.command!, status, null)

const erase = { interface: 'deploy', step: 'erase_devices_metadata', priority: 10, abortable: true }
const other = { interface: 'deploy', step: 'other', priority: 5 }

async function cleaning(
  t: TestContext,
  script: Script,
  overrides: ConfigOverrides = {},
): Promise<AgentConductor & { commands: Commands }> {
  const commands = await scriptedAgent(script)
  const running = await startAgentConductor(t, commands.agent, { provision_state: 'manageable' }, overrides)
  await running.conductor.rpc.do_provisioning_action(testContext, { node_id: running.node.uuid!, action: 'provide' })
  await running.conductor.settled()
  return { ...running, commands }
}

const executed = ({ agent }: Commands) =>
  agent.heard.filter(({ params }) => params?.step !== undefined).map(({ params }) => String(params.step.step))

test('steps run by priority, each once', async (t) => {
  const it = await cleaning(t, { clean: [other, erase] })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
  assert.deepEqual(executed(it.commands), ['erase_devices_metadata', 'other'])
  assert.deepEqual(it.power, ['rebooting', 'power off'])
})

test('a busy agent is asked again at its next heartbeat, and cleaning does not begin without steps', async (t) => {
  let busy = 2
  const it = await cleaning(t, {
    clean: [erase],
    results: {
      'clean.get_clean_steps': (heard) =>
        busy-- > 0
          ? { status: 409, body: { faultstring: 'Agent is busy: executing command x' } }
          : answerTo(heard, { clean: [erase] }),
    },
  })
  await it.heartbeat()
  assert.equal((await it.now()).provision_state, 'clean wait')
  assert.equal((await it.untilDone()).provision_state, 'available')
  assert.deepEqual(executed(it.commands), ['erase_devices_metadata'])
})

for (const [what, result] of [
  ['no steps at all', {}],
  ['steps that are no list', { clean_steps: 5, hardware_manager_version: {} }],
  [
    'a step without a priority',
    { clean_steps: { m: [{ interface: 'deploy', step: 'x' }] }, hardware_manager_version: {} },
  ],
] as const) {
  test(`an agent that answers with ${what} ends cleaning`, async (t) => {
    const it = await cleaning(t, {
      results: { 'clean.get_clean_steps': ({ command }) => commandResult(command!, 'SUCCEEDED', result) },
    })
    const node = await it.untilDone()
    assert.equal(node.provision_state, 'clean failed')
    assert.match(node.last_error!, /^Node failed to start the first cleaning step: /)
  })
}

test('a step that fails, or ends in a state that is not known, ends cleaning and keeps the logs', async (t) => {
  for (const [result, expected] of [
    [failed('the disk is broken'), /^Clean step deploy\.erase_devices_metadata failed on node .* the disk is broken$/],
    [withStatus('EXPLODED'), /unknown state .*EXPLODED/],
  ] as const) {
    const it = await cleaning(t, { clean: [erase], results: { 'deploy.erase_devices_metadata': result } })
    const node = await it.untilDone()
    assert.equal(node.provision_state, 'clean failed')
    assert.match(node.last_error!, expected)
    assert.equal(node.maintenance, true)
    assert.equal(node.fault, 'clean failure')
    const [file] = await readdir(join(it.folder, 'logs'))
    assert.match(file!, new RegExp(`^${node.uuid}_node-a_cleaning_[\\d-]+\\.tar\\.gz$`))
    assert.equal(await readFile(join(it.folder, 'logs', file!), 'utf8'), 'logs')
    assert.equal((await stat(join(it.folder, 'logs', file!))).mode & 0o777, 0o600)
  }
})

test('the result of an earlier step is not taken for that of the running one', async (t) => {
  const running = (heard: Heard) => commandResult(heard.command!, 'RUNNING')
  const it = await cleaning(t, { clean: [erase, other], results: { 'deploy.other': running } })
  await it.heartbeat()
  await it.heartbeat()
  assert.equal((await it.now()).clean_step?.['step'], 'other')
  // the list ends with the step before, as if the new one had not arrived
  it.commands.done = it.commands.done.slice(0, -1)
  await it.heartbeat()
  const node = await it.now()
  assert.equal(node.provision_state, 'clean wait')
  assert.equal(node.clean_step?.['step'], 'other')
})

test('a step that asks for a reboot gets one, and cleaning goes on after it', async (t) => {
  const it = await cleaning(t, { clean: [{ ...erase, reboot_requested: true }, other] })
  await it.heartbeat()
  await it.heartbeat()
  assert.equal((await it.now()).provision_state, 'clean wait')
  assert.equal((await it.now()).driver_internal_info?.['cleaning_reboot'], true)
  assert.deepEqual(it.power, ['rebooting', 'rebooting'])
  // the agent has just booted
  it.commands.done = []
  assert.equal((await it.untilDone()).provision_state, 'available')
  assert.deepEqual(executed(it.commands), ['erase_devices_metadata', 'other'])
})

test('when hardware managers change, automated cleaning begins anew', async (t) => {
  let mismatches = 1
  const it = await cleaning(t, {
    clean: [erase, other],
    results: {
      'deploy.other': (heard) =>
        mismatches-- > 0 ? commandResult(heard.command!, 'VERSION_MISMATCH') : answerTo(heard, {}),
    },
  })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
  assert.deepEqual(executed(it.commands), ['erase_devices_metadata', 'other', 'erase_devices_metadata', 'other'])
})

test('when hardware managers change, manual cleaning goes on with the step that did not run', async (t) => {
  let mismatches = 1
  const commands = await scriptedAgent({
    clean: [erase, other],
    results: {
      'deploy.other': (heard) =>
        mismatches-- > 0 ? commandResult(heard.command!, 'CLEAN_VERSION_MISMATCH') : answerTo(heard, {}),
    },
  })
  const it = await startAgentConductor(t, commands.agent, { provision_state: 'manageable' })
  const clean_steps = [erase, other].map(({ interface: face, step }) => ({ interface: face, step }))
  await it.conductor.rpc.do_node_clean(testContext, { node_id: it.node.uuid!, clean_steps })
  assert.equal((await it.untilDone()).provision_state, 'manageable')
  assert.deepEqual(executed(commands), ['erase_devices_metadata', 'other', 'other'])
})

test('while something else polls a step, heartbeats leave it alone', async (t) => {
  const it = await cleaning(t, { clean: [erase] })
  await it.heartbeat()
  const { driver_internal_info } = await it.now()
  await it.change({ driver_internal_info: { ...driver_internal_info, cleaning_polling: true } })
  await it.heartbeat()
  assert.equal((await it.now()).provision_state, 'clean wait')
})

test('a heartbeat with a wrong token, no version, or without TLS is refused', async (t) => {
  const it = await cleaning(t, { clean: [erase] }, { agent: { require_tls: true } })
  const wrong: Record<string, string | null>[] = [
    { agent_token: 'wrong' },
    { agent_token: null },
    { agent_version: null },
    { callback_url: 'http://192.0.2.1:9999' },
  ]
  for (const values of wrong) {
    await assert.rejects(it.heartbeat(values), { name: 'InvalidParameterValue' }, JSON.stringify(values))
  }
  assert.equal(it.commands.agent.heard.length, 0)
  assert.equal((await it.now()).driver_internal_info?.['agent_url'], undefined)
})

test('a node in maintenance: its heartbeat does nothing, or ends the operation where that is configured', async (t) => {
  const kept = await cleaning(t, { clean: [erase] })
  await kept.change({ maintenance: true })
  await kept.heartbeat()
  assert.equal((await kept.now()).provision_state, 'clean wait')
  assert.equal(kept.commands.agent.heard.length, 0)
  const ended = await cleaning(t, { clean: [erase] }, { conductor: { allow_provisioning_in_maintenance: false } })
  await ended.change({ maintenance: true })
  await ended.heartbeat()
  assert.equal((await ended.now()).provision_state, 'clean failed')
})

const imageInfo = (images: string, more: Step = {}): Step => ({
  image_source: `${images}/image`,
  image_os_hash_algo: 'sha256',
  image_os_hash_value: 'a'.repeat(64),
  image_disk_format: 'raw',
  ...more,
})

async function deploying(
  t: TestContext,
  script: Script,
  instance: (images: string) => Step = imageInfo,
  values: Partial<Node> = {},
  overrides: ConfigOverrides = {},
): Promise<AgentConductor & { commands: Commands }> {
  const commands = await scriptedAgent(script)
  const running = await startAgentConductor(t, commands.agent, { provision_state: 'available', ...values }, overrides)
  await writeFile(join(running.folder, 'http', 'image'), 'content')
  await running.change({ instance_info: instance(running.images) })
  await running.conductor.rpc.do_node_deploy(testContext, { node_id: running.node.uuid!, deploy_steps: [] })
  await running.conductor.settled()
  return { ...running, commands }
}

const imageWritten = ({ agent }: Commands) =>
  agent.heard.find(({ command }) => command === 'deploy.execute_deploy_step')!.params.step.args.image_info as Step

test('a deploy by the agent ends with the machine on and its instance ready', async (t) => {
  const it = await deploying(t, {})
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
  assert.deepEqual(it.commands.agent.commands(), [
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'standby.get_partition_uuids',
    'image.install_bootloader',
    'standby.power_off',
  ])
  assert.deepEqual(it.power, ['rebooting', 'power off', 'power on'])
  assert.deepEqual(node.instance_info?.['image_url'], `${it.images}/image`)
  assert.equal(node.driver_internal_info?.['root_uuid_or_disk_id'], 'the-root')
  assert.equal(node.driver_internal_info?.['agent_url'], undefined)
})

test('a partition image comes with the layout of the disk', async (t) => {
  const it = await deploying(t, {}, (images) =>
    imageInfo(images, { image_type: 'partition', root_gb: '10', swap_mb: 512, ephemeral_gb: 1 }),
  )
  assert.equal((await it.untilDone()).provision_state, 'active')
  const { root_mb, swap_mb, ephemeral_mb, ephemeral_format, boot_option, disk_label, deploy_boot_mode, image_type } =
    imageWritten(it.commands)
  assert.deepEqual(
    { root_mb, swap_mb, ephemeral_mb, ephemeral_format, boot_option, disk_label, deploy_boot_mode, image_type },
    {
      root_mb: 10240,
      swap_mb: 512,
      ephemeral_mb: 1024,
      ephemeral_format: 'ext4',
      boot_option: 'local',
      disk_label: 'gpt',
      deploy_boot_mode: 'uefi',
      image_type: 'partition',
    },
  )
})

test('the credentials of the image server go to its hosts only', async (t) => {
  const deploy = {
    image_server_auth_strategy: 'http_basic',
    image_server_user: 'user',
    image_server_password: 'planted-marker',
  } as const
  const listed = await deploying(
    t,
    {},
    imageInfo,
    {},
    { deploy: { ...deploy, image_server_auth_hosts: ['127.0.0.1'] } },
  )
  await listed.untilDone()
  assert.equal(imageWritten(listed.commands)['image_server_password'], 'planted-marker')
  const other = await deploying(
    t,
    {},
    imageInfo,
    {},
    { deploy: { ...deploy, image_server_auth_hosts: ['example.com'] } },
  )
  await other.untilDone()
  assert.ok(
    !JSON.stringify(other.commands.agent.heard.map(({ params }) => params as unknown)).includes('planted-marker'),
  )
})

test('a deploy whose image is not there fails before the machine is touched', async (t) => {
  const it = await deploying(t, {}, (images) => imageInfo(images, { image_source: `${images}/none` }))
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'deploy failed')
  assert.match(node.last_error!, /\/none.*404/)
  assert.equal(it.commands.agent.heard.length, 0)
})

for (const [what, more] of [
  ['no checksum', { image_os_hash_value: undefined }],
  ['half a checksum', { image_os_hash_algo: undefined }],
  ['a strange place to download from', { image_download_source: 'carrier pigeon' }],
  ['capabilities that make no sense', { capabilities: { boot_mode: 'coreboot' } }],
  ['hints that make no sense', { root_device: { size: 'huge' } }],
] as const) {
  test(`a deploy with ${what} is refused`, async (t) => {
    await assert.rejects(
      deploying(t, {}, (images) => imageInfo(images, more)),
      { name: 'InstanceDeployFailure' },
    )
  })
}

test('a boot loader that cannot be installed ends the deploy, with logs, and the machine off', async (t) => {
  const it = await deploying(t, { results: { 'image.install_bootloader': failed('no grub') } })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'deploy failed')
  assert.match(node.last_error!, /^Deploy step deploy\.prepare_instance_boot failed: .*no grub/)
  assert.equal(node.power_state, 'power off')
  assert.equal((await readdir(join(it.folder, 'logs'))).length, 1)
})

test('a deploy failure is not powered off where that is configured, and the image is removed where that is', async (t) => {
  const it = await deploying(
    t,
    { results: { 'image.install_bootloader': failed('no grub') } },
    imageInfo,
    {},
    {
      deploy: { power_off_after_deploy_failure: false },
      conductor: { clear_image_cache_on_deploy_failure: true },
    },
  )
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'deploy failed')
  assert.equal(node.power_state, 'power on')
})

test('an agent that goes away when told to power off has done so', async (t) => {
  const it = await deploying(t, { results: { 'standby.power_off': 'close' } })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
  assert.equal(node.power_state, 'power on')
})

test('a node that must not be powered off is locked down and rebooted', async (t) => {
  let locked = false
  const it = await deploying(
    t,
    {
      // what is locked down does not answer
      gone: () => locked,
      results: {
        'system.lockdown': (heard) => {
          locked = true
          return commandResult(heard.command!, 'SUCCEEDED')
        },
      },
    },
    imageInfo,
    { disable_power_off: true, power_state: 'power on' },
  )
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'active', node.last_error ?? '')
  assert.deepEqual(it.power, ['rebooting', 'rebooting'])
  const sent = it.commands.agent.commands()
  assert.ok(sent.includes('standby.sync') && sent.includes('system.lockdown') && !sent.includes('standby.power_off'))
})

test('power off by the BMC where the node asks for it', async (t) => {
  const it = await deploying(t, {}, imageInfo, { driver_info: { deploy_forces_oob_reboot: 'yes' } })
  assert.equal((await it.untilDone()).provision_state, 'active')
  const sent = it.commands.agent.commands()
  assert.ok(sent.includes('standby.sync') && !sent.includes('standby.power_off'))
})

test('a crash while the agent is waited for costs nothing: the next heartbeat goes on', async (t) => {
  const it = await cleaning(t, { clean: [erase, other] })
  await it.heartbeat()
  const again = await it.conductor.restart({ crash: true })
  const beat = async () => {
    await again.rpc.heartbeat(testContext, {
      node_id: it.node.uuid!,
      callback_url: it.commands.agent.url,
      agent_version: '13.0.0',
      agent_token: 'the-token-of-this-run',
    })
    await again.settled()
  }
  for (let count = 0; count < 5 && (await again.node(it.node.uuid!)).provision_state === 'clean wait'; count++)
    await beat()
  assert.equal((await again.node(it.node.uuid!)).provision_state, 'available')
  await again[Symbol.asyncDispose]()
  assert.deepEqual(executed(it.commands), ['erase_devices_metadata', 'other'])
})

test('RAID that the agent made is written down', async (t) => {
  const made = {
    logical_disks: [
      { raid_level: '1', size_gb: 100, is_root_volume: true, root_device_hint: { wwn: '0x1' }, controller: 'software' },
    ],
  }
  const create = { interface: 'raid', step: 'create_configuration', priority: 0 }
  const commands = await scriptedAgent({
    clean: [create, { ...create, step: 'delete_configuration' }],
    results: {
      'raid.create_configuration': ({ command, params }) =>
        commandResult(command!, 'SUCCEEDED', { clean_result: made, clean_step: params.step }),
    },
  })
  const it = await startAgentConductor(t, commands.agent, {
    provision_state: 'manageable',
    raid_interface: 'agent',
    target_raid_config: { logical_disks: [{ raid_level: '1', size_gb: 100, is_root_volume: true }] },
  })
  const step = { interface: 'raid', step: 'create_configuration' }
  const clean = async (step: Step) => {
    await it.conductor.rpc.do_node_clean(testContext, { node_id: it.node.uuid!, clean_steps: [step] })
    commands.done = []
    return await it.untilDone()
  }
  const node = await clean(step)
  assert.equal(node.provision_state, 'manageable', node.last_error ?? '')
  assert.deepEqual(node.raid_config?.['logical_disks'], made.logical_disks)
  assert.equal(node.properties?.['local_gb'], 100)
  assert.deepEqual(node.properties?.['root_device'], { wwn: '0x1' })
  assert.match(String(node.properties?.['capabilities']), /raid_level:1/)
  const gone = await clean({ interface: 'raid', step: 'delete_configuration' })
  assert.deepEqual(gone.raid_config, {})
  assert.equal(gone.properties?.['root_device'], undefined)
})
