/** The other interfaces that work by the agent, in a whole conductor: autodetect, custom-agent, ramdisk, bootc, agent power. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  type AgentForTests,
  commandResult,
  type Heard,
  type Said,
  startAgentForTests,
} from '../../src/agent/agent-for-tests.ts'
import type { ConfigOverrides } from '../../src/config/for-tests.ts'
import { testContext } from '../../src/conductor/for-tests.ts'
import type { Node } from '../../src/objects/index.ts'
import { type AgentConductor, agentToken, startAgentConductor } from '../peers/agent-conductor.ts'

/** An agent that does what it is told, with these deploy steps of its own. */
async function willingAgent(deploySteps: Record<string, unknown>[] = []): Promise<AgentForTests> {
  const done: unknown[] = []
  return await startAgentForTests((heard) => {
    if (heard.command === null) return { body: { commands: done } }
    const said = answer(heard, deploySteps)
    if (typeof said === 'object') done.push(said.body)
    return said
  })
}

function answer({ command, params }: Heard, deploySteps: Record<string, unknown>[]): Said {
  if (command === 'deploy.get_deploy_steps') {
    return commandResult(command, 'SUCCEEDED', { deploy_steps: { m: deploySteps }, hardware_manager_version: {} })
  }
  if (command === 'clean.get_clean_steps') {
    const clean_steps = { m: [{ interface: 'deploy', step: 'erase_devices_metadata', priority: 10 }] }
    return commandResult(command, 'SUCCEEDED', { clean_steps, hardware_manager_version: {} })
  }
  const phase = command!.split('.')[0]!
  const result =
    params.step === undefined ? null : { [`${phase}_result`]: null, [`${phase}_step`]: params.step as unknown }
  return commandResult(command!, 'SUCCEEDED', result)
}

const everything: ConfigOverrides = {
  DEFAULT: {
    enabled_deploy_interfaces: ['autodetect', 'direct', 'ramdisk', 'bootc', 'custom-agent'],
    default_deploy_interface: 'autodetect',
  },
}

async function deployed(
  t: TestContext,
  agent: AgentForTests,
  instance: (images: string) => Record<string, unknown>,
  values: Partial<Node> = {},
  overrides: ConfigOverrides = everything,
): Promise<AgentConductor & { result: Node }> {
  const it = await startAgentConductor(t, agent, { provision_state: 'available', ...values }, overrides)
  await writeFile(join(it.folder, 'http', 'image'), 'content')
  await it.change({ instance_info: instance(it.images) })
  await it.conductor.rpc.do_node_deploy(testContext, { node_id: it.node.uuid!, deploy_steps: [] })
  return { ...it, result: await it.untilDone() }
}

const rawImage = (images: string) => ({
  image_source: `${images}/image`,
  image_checksum: 'a'.repeat(64),
  image_disk_format: 'raw',
})
const executed = (agent: AgentForTests) =>
  agent.heard
    .filter(({ params }) => params?.step !== undefined)
    .map(({ params }) => params.step as Record<string, unknown>)

test('autodetect takes direct for a disk image, and is in place again for cleaning afterwards', async (t) => {
  const agent = await willingAgent()
  const it = await deployed(t, agent, rawImage)
  assert.equal(it.result.provision_state, 'active', it.result.last_error ?? '')
  assert.equal(it.result.deploy_interface, 'direct')
  assert.equal(it.result.driver_internal_info?.['original_deploy_interface'], 'autodetect')
  await it.conductor.rpc.do_node_tear_down(testContext, { node_id: it.node.uuid! })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'available', node.last_error ?? '')
  assert.equal(node.deploy_interface, 'autodetect')
  assert.equal(node.driver_internal_info?.['original_deploy_interface'], undefined)
})

test('autodetect takes bootc for a container, whose agent is handed the pull secret', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'registry-'))
  t.after(() => rm(folder, { recursive: true }))
  const authentication_config = join(folder, 'auth.json')
  await writeFile(authentication_config, JSON.stringify({ auths: { 'registry.example.com': { auth: 'the-secret' } } }))
  const agent = await willingAgent()
  const source = 'oci://registry.example.com/os:latest'
  const it = await deployed(
    t,
    agent,
    () => ({ image_source: source }),
    {},
    { ...everything, oci: { authentication_config } },
  )
  assert.equal(it.result.provision_state, 'active', it.result.last_error ?? '')
  assert.equal(it.result.deploy_interface, 'bootc')
  const [install] = executed(agent)
  assert.equal(install!['step'], 'execute_bootc_install')
  assert.deepEqual(install!['args'], {
    image_source: source,
    configdrive: null,
    oci_pull_secret: Buffer.from('the-secret').toString('base64'),
  })
})

test('a custom agent does the deploy by steps of its own', async (t) => {
  const agent = await willingAgent([{ interface: 'deploy', step: 'install_coreos', priority: 80 }])
  const it = await deployed(t, agent, () => ({}), { deploy_interface: 'custom-agent' })
  assert.equal(it.result.provision_state, 'active', it.result.last_error ?? '')
  assert.deepEqual(
    executed(agent).map(({ step }) => step),
    ['install_coreos'],
  )
  assert.ok(!agent.commands().includes('image.install_bootloader'))
})

test('a ramdisk deploy needs a boot interface that can, and no agent', async (t) => {
  const agent = await willingAgent()
  const ramdisk = (images: string) => ({ boot_iso: `${images}/image`, ironic_ramdisk_deploy: true })
  await assert.rejects(deployed(t, agent, ramdisk), /cannot boot a ramdisk/)
  assert.equal(agent.heard.length, 0)
})

const fastTrack: ConfigOverrides = {
  DEFAULT: {
    enabled_power_interfaces: ['fake', 'agent'],
    enabled_deploy_interfaces: ['direct'],
    default_deploy_interface: 'direct',
  },
  deploy: { fast_track: true },
}

test('without a BMC the agent itself is the power interface: it reboots, and can do no more', async (t) => {
  const agent = await willingAgent()
  const it = await startAgentConductor(
    t,
    agent,
    {
      provision_state: 'manageable',
      power_interface: 'agent',
      power_state: 'power on',
      driver_internal_info: {
        agent_url: agent.url,
        agent_secret_token: agentToken,
        agent_secret_token_pregenerated: true,
        agent_last_heartbeat: new Date().toISOString().replace('Z', '000'),
      },
    },
    fastTrack,
  )
  const clean_steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
  await it.conductor.rpc.do_node_clean(testContext, { node_id: it.node.uuid!, clean_steps })
  const node = await it.untilDone()
  assert.equal(node.provision_state, 'manageable', node.last_error ?? '')
  assert.deepEqual(
    executed(agent).map(({ step }) => step),
    ['erase_devices_metadata'],
  )
  await assert.rejects(
    it.conductor.rpc.change_node_power_state(testContext, { node_id: it.node.uuid!, new_state: 'power off' }),
    { name: 'InvalidParameterValue' },
  )
  // an agent that is not heard of any more is no power interface
  const { driver_internal_info } = await it.now()
  await it.change({
    driver_internal_info: { ...driver_internal_info, agent_last_heartbeat: '2020-01-01T00:00:00.000000' },
  })
  const checked = await it.conductor.rpc.validate_driver_interfaces(testContext, { node_id: it.node.uuid! })
  assert.match(JSON.stringify(checked), /not heard of/)
})
