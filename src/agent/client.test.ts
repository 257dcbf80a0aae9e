import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type ConfigOverrides, testConfig } from '../config/for-tests.ts'
import { makeIdentity } from '../lab/agent/certificate.ts'
import { type Logger, silentLogger } from '../lib/oslo-log/logger.ts'
import type { Node } from '../objects/index.ts'
import {
  type AgentForTests,
  ClockForTests,
  commandResult,
  type Heard,
  nodeForTests,
  portForTests,
  type Said,
  startAgentForTests,
} from './agent-for-tests.ts'
import { checkCallbackUrl } from './callback-url.ts'
import { storeAgentCertificate } from './certificates.ts'
import { AgentClient } from './client.ts'
import { agentTokenIsValid, newAgentToken } from './token.ts'

const token = 'a-token-that-must-not-be-seen'

interface Setup {
  agent: AgentForTests
  client: AgentClient
  node: Node
  clock: ClockForTests
  lines: string[]
}

async function setUp(
  t: TestContext,
  answer: (heard: Heard) => Said | Promise<Said>,
  overrides: ConfigOverrides = {},
): Promise<Setup> {
  const agent = await startAgentForTests(answer)
  const lines: string[] = []
  const write = (message: string, detail?: unknown) => void lines.push(message + JSON.stringify(detail ?? {}))
  const log: Logger = { ...silentLogger, debug: write, info: write, warning: write, error: write }
  const clock = new ClockForTests()
  const client = new AgentClient({ config: testConfig(overrides), clock, log })
  t.after(async () => {
    await client.close()
    await agent.close()
  })
  const node = nodeForTests({ driver_internal_info: { agent_url: agent.url, agent_secret_token: token } })
  return { agent, client, node, clock, lines }
}

test('a command is posted with its token and waits as it is told', async (t) => {
  const { agent, client, node, lines } = await setUp(t, ({ command }) => commandResult(command!, 'SUCCEEDED', { a: 1 }))
  const result = await client.command(node, 'standby.sync', { b: 2 }, { wait: true })
  assert.deepEqual(result.command_result, { a: 1 })
  const [heard] = agent.heard
  assert.equal(heard!.method, 'POST')
  assert.equal(heard!.path, '/v1/commands/')
  assert.deepEqual(Object.fromEntries(heard!.query), { wait: 'true', agent_token: token })
  assert.equal(heard!.headers['content-type'], 'application/json')
  assert.deepEqual(heard!.params, { b: 2 })
  assert.ok(lines.length > 0 && lines.every((line) => !line.includes(token)))
})

test('a command whose answer was lost but that runs is not sent again', async (t) => {
  const { agent, client, node } = await setUp(t, ({ command }) =>
    command === null ? { body: { commands: [commandResult('x.go', 'RUNNING').body] } } : 'close',
  )
  const result = await client.command(node, 'x.go', {})
  assert.equal(result.command_status, 'RUNNING')
  assert.deepEqual(agent.commands(), ['x.go'])
})

test('a command without an answer is tried again, then the agent is said to be unreachable', async (t) => {
  const { agent, client, node } = await setUp(t, ({ command }) =>
    command === null ? { body: { commands: [] } } : 'close',
  )
  await assert.rejects(client.command(node, 'x.go', {}), { name: 'AgentConnectionFailed' })
  assert.deepEqual(agent.commands(), ['x.go', 'x.go', 'x.go'])
})

test('an agent that never answers costs no more than the time limit', async (t) => {
  const overrides = { agent: { command_timeout: 1, max_command_attempts: 1 } }
  const { client, node } = await setUp(t, () => 'hang', overrides)
  const before = Date.now()
  await assert.rejects(client.command(node, 'x.go', {}), { name: 'AgentConnectionFailed' })
  assert.ok(Date.now() - before < 6000)
})

test('a wait is given up when the work is', async (t) => {
  const { client, node } = await setUp(t, () => 'hang')
  const given = new AbortController()
  const answer = client.command(node, 'x.go', {}, { signal: given.signal })
  given.abort(new Error('stopping'))
  await assert.rejects(answer, { message: 'stopping' })
})

test('answers that are errors become declared errors', async (t) => {
  const answers: [Said, string][] = [
    [{ status: 409, body: { faultstring: 'Agent is busy: executing command' } }, 'AgentInProgress'],
    [{ status: 500, body: { faultstring: 'agent is BUSY' } }, 'AgentInProgress'],
    [{ status: 401, body: { faultstring: 'Token invalid.' } }, 'AgentAPIError'],
    [{ status: 500, body: {} }, 'AgentAPIError'],
    [{ status: 200, body: 'no json' }, 'IronicException'],
    [{ status: 200, body: '[]' }, 'IronicException'],
    [
      commandResult('x.go', 'FAILED', null, { type: 'TypeError', code: 500, message: 'unexpected keyword' }),
      'AgentAPIError',
    ],
  ]
  let next: Said
  const { agent, client, node } = await setUp(t, () => next)
  for (const [answer, name] of answers) {
    next = answer
    await assert.rejects(client.command(node, 'x.go', {}), { name }, JSON.stringify(answer))
  }
  // none of them is a reason to try again
  assert.equal(agent.heard.length, answers.length)
})

test('a redirect is not followed', async (t) => {
  const { agent, client, node } = await setUp(t, () => ({ status: 302, body: {} }))
  await client.command(node, 'x.go', {}).catch(() => undefined)
  assert.equal(agent.heard.length, 1)
})

test('a long command is asked after until it has ended', async (t) => {
  let asked = 0
  const { client, node, clock } = await setUp(t, ({ command }) => {
    if (command !== null) return commandResult(command, 'RUNNING')
    const status = ++asked < 3 ? 'RUNNING' : 'SUCCEEDED'
    return { body: { commands: [commandResult('image.install_bootloader', status).body] } }
  })
  const where = { rootUuid: 'r', efiUuid: null, prepUuid: null, bootMode: 'uefi' }
  const result = await client.installBootloader(node, where, false)
  assert.equal(result.command_status, 'SUCCEEDED')
  assert.deepEqual(clock.slept, [1000, 2000, 3000])
})

test('a command that does not end is given up', async (t) => {
  const { client, node } = await setUp(
    t,
    ({ command }) => (command === null ? { body: { commands: [] } } : commandResult(command, 'RUNNING')),
    { agent: { command_wait_attempts: 3 } },
  )
  await assert.rejects(client.command(node, 'x.go', {}, { poll: true }), { name: 'AgentCommandTimeout' })
})

test('a boot loader is installed by the old form when the agent does not know the new one', async (t) => {
  const { agent, client, node } = await setUp(t, ({ command, params }) => {
    if (command === null) return { body: { commands: [commandResult('image.install_bootloader', 'SUCCEEDED').body] } }
    return 'target_boot_mode' in params
      ? { status: 500, body: { faultstring: 'unknown' } }
      : commandResult(command, 'RUNNING')
  })
  const where = { rootUuid: 'r', efiUuid: 'e', prepUuid: null, bootMode: 'uefi' }
  await client.installBootloader(node, where, false)
  assert.deepEqual(agent.heard[1]!.params, { root_uuid: 'r', efi_system_part_uuid: 'e', prep_boot_part_uuid: null })
  await assert.rejects(client.installBootloader(node, where, true), { name: 'AgentAPIError' })
})

test('an agent before servicing has no service steps', async (t) => {
  const { client, node } = await setUp(t, () => ({ status: 404, body: { faultstring: 'Unknown command' } }))
  const { command_result } = await client.getSteps('service', node, [])
  assert.deepEqual(command_result, { service_steps: {}, hardware_manager_version: 0 })
  await assert.rejects(client.getSteps('clean', node, []), { name: 'AgentAPIError' })
})

test('no secret of the node goes to the agent', async (t) => {
  const { agent, client } = await setUp(t, ({ command }) => commandResult(command!, 'RUNNING'))
  const marker = 'planted-marker'
  const node = nodeForTests({
    driver_info: {
      redfish_password: marker,
      nested: { some_token: marker },
      list: [{ ipmi_password: marker }],
      snmp_community: marker,
      image_url: `http://user:${marker}@host/x`,
      redfish_address: 'https://bmc',
    },
    driver_internal_info: { agent_url: agent.url, agent_secret_token: marker, hardware_manager_version: { x: '1' } },
    instance_info: { configdrive: marker, image_pull_secret: marker, hashed_rescue_password: marker },
    provision_updated_at: new Date('2026-12-01T12:00:00.250Z'),
    extra: { kept: true },
  })
  const step = { interface: 'deploy', step: 'erase' } as const
  await client.executeStep('clean', step, node, [portForTests()])
  const { params, query } = agent.heard[0]!
  assert.equal(query.get('agent_token'), marker)
  assert.ok(!JSON.stringify(params).includes(marker))
  assert.equal(params.node.driver_info.redfish_address, 'https://bmc')
  assert.equal(params.node.provision_updated_at, '2026-12-01T12:00:00.250000')
  assert.deepEqual(params.node.extra, { kept: true })
  assert.deepEqual(params.node.traits, { objects: [] })
  assert.deepEqual(params.step, step)
  assert.deepEqual(params.clean_version, { x: '1' })
  assert.equal(params.ports[0].node_uuid, node.uuid)
  // only a deploy step is told the config drive, since a custom agent writes it itself
  await client.executeStep('deploy', step, node, [])
  assert.equal(agent.heard[1]!.params.node.instance_info.configdrive, marker)
})

test('a rescue hands over the hash, and the password itself only where that is allowed', async (t) => {
  const refuse: Said = { status: 500, body: { faultstring: 'hashed?' } }
  const { agent, client, node } = await setUp(t, ({ command, params }) =>
    'hashed' in params ? refuse : commandResult(command!, 'SUCCEEDED'),
  )
  node.instance_info = { rescue_password: 'clear', hashed_rescue_password: '$5$x' }
  await assert.rejects(client.finalizeRescue(node), { name: 'InstanceRescueFailure' })
  assert.deepEqual(
    agent.heard.map(({ params }) => params),
    [{ rescue_password: '$5$x', hashed: true }],
  )
  await assert.rejects(client.finalizeRescue(nodeForTests()), /rescue_password/)
})

test('lockdown ends when the agent is gone', async (t) => {
  let locked = false
  const { agent, client, node } = await setUp(
    t,
    ({ command }) => {
      if (locked) return 'close'
      locked = command === 'system.lockdown'
      return command === null ? { body: { commands: [] } } : commandResult(command, 'SUCCEEDED')
    },
    { agent: { max_command_attempts: 1 } },
  )
  await client.lockdown(node)
  assert.deepEqual(agent.commands(), ['standby.sync', 'system.lockdown'])
  await client.lockdown(node, { mayBeGone: true })
  assert.deepEqual(agent.commands(), ['standby.sync', 'system.lockdown'])
})

test('the certificate of the heartbeat is what the agent is checked against', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-tls-'))
  const [identity, other] = await Promise.all([
    makeIdentity('ironic-python-agent', '127.0.0.1'),
    makeIdentity('x', '127.0.0.1'),
  ])
  const agent = await startAgentForTests(() => ({ body: { commands: [] } }), identity)
  const config = testConfig({ agent: { certificates_path: join(folder, 'certs'), max_command_attempts: 1 } })
  const client = new AgentClient({ config, clock: new ClockForTests(), log: silentLogger })
  t.after(async () => {
    await client.close()
    await agent.close()
    await rm(folder, { recursive: true })
  })
  const node = nodeForTests({ driver_internal_info: { agent_url: agent.url } })
  await assert.rejects(client.commandsStatus(node), { name: 'AgentConnectionFailed' })
  const path = await storeAgentCertificate(node, identity.cert, config)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await stat(join(folder, 'certs'))).mode & 0o777, 0o700)
  node.driver_internal_info = { ...node.driver_internal_info, agent_verify_ca: path }
  assert.deepEqual(await client.commandsStatus(node), [])
  // the same again is fine, another one is not
  assert.equal(await storeAgentCertificate(node, `${identity.cert}\n`, config), path)
  await assert.rejects(storeAgentCertificate(node, other.cert, config), { name: 'InvalidParameterValue' })
  await assert.rejects(storeAgentCertificate(node, 'text', config), { name: 'InvalidParameterValue' })
  assert.deepEqual(await readdir(join(folder, 'certs')), [`${node.uuid}.crt`])
  assert.equal(await readFile(path, 'utf8'), identity.cert)
  // a wrong authority, a missing file, none at all
  const wrong = join(folder, 'other.pem')
  await writeFile(wrong, other.cert)
  const asked = (agent_verify_ca: unknown) => {
    const { agent_verify_ca: _own, ...rest } = node.driver_internal_info!
    return client.commandsStatus({ ...node, driver_internal_info: rest, driver_info: { agent_verify_ca } })
  }
  await assert.rejects(asked(wrong), { name: 'AgentConnectionFailed' })
  await assert.rejects(asked(join(folder, 'none')), { name: 'InvalidParameterValue' })
  assert.deepEqual(await asked('False'), [])
  assert.deepEqual(await asked(join(folder, 'certs')), [])
})

test('a token is valid when it is the same, whatever its length', () => {
  const node = nodeForTests({ driver_internal_info: { agent_secret_token: token } })
  assert.equal(agentTokenIsValid(node, token), true)
  for (const wrong of [null, undefined, '', 'x', `${token}x`, token.slice(1)])
    assert.equal(agentTokenIsValid(node, wrong), false)
  for (const none of [{}, { agent_secret_token: null }, { agent_secret_token: '' }]) {
    assert.equal(agentTokenIsValid(nodeForTests({ driver_internal_info: none }), ''), false)
  }
  assert.notEqual(newAgentToken(), newAgentToken())
  assert.ok(newAgentToken().length >= 43)
})

test('a callback address is https with nothing smuggled in', () => {
  const config = testConfig()
  checkCallbackUrl('https://192.0.2.1:9999', config)
  checkCallbackUrl('https://[2001:db8::1]:9999', config)
  for (const url of [
    'http://192.0.2.1:9999',
    'gopher://h',
    'file:///etc/passwd',
    'https://user:pw@h',
    'https://h\r\nX: y',
    'https://h?x=y',
    'https://h#x',
    'javascript:1',
    'h',
    '',
  ]) {
    assert.throws(() => checkCallbackUrl(url, config), { name: 'InvalidParameterValue' }, url)
  }
  checkCallbackUrl('http://192.0.2.1:9999', testConfig({ agent: { require_tls: false } }))
})
