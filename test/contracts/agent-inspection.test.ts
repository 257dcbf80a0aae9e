/** Inspection by the agent in a whole conductor: boot managed, report taken, aborted, out of order. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startAgentForTests } from '../../src/agent/agent-for-tests.ts'
import { testContext } from '../../src/conductor/for-tests.ts'
import type { ConfigOverrides } from '../../src/config/for-tests.ts'
import { findNodeInventory } from '../../src/db/node-inventory.ts'
import { FakeBoot } from '../../src/drivers/fake/boot.ts'
import type { Task } from '../../src/drivers/task.ts'
import type { JsonDict } from '../../src/objects/versioned-object.ts'
import type { Node } from '../../src/objects/index.ts'
import { type AgentConductor, startAgentConductor } from '../peers/agent-conductor.ts'

const inventory: JsonDict = {
  interfaces: [{ name: 'eth0', mac_address: '52:54:00:11:22:33', has_carrier: true, ipv4_address: '10.0.0.5' }],
  disks: [{ name: '/dev/vda', size: 10737418240 }],
  cpu: { count: 4, architecture: 'x86_64' },
  memory: { physical_mb: 8192 },
  bmc_address: '10.0.0.9',
}

interface Inspected extends AgentConductor {
  /** kernel parameters of each boot of the ramdisk */
  readonly booted: Readonly<Record<string, string>>[]
  /** what the boot interface was told to take away */
  readonly cleaned: string[]
  /** taking the ramdisk away fails from now on */
  breakBoot(error: Error): void
  inspect(): Promise<Node>
  report(data?: JsonDict, pluginData?: JsonDict): Promise<Node>
}

async function start(
  t: TestContext,
  values: Partial<Node> = {},
  overrides: ConfigOverrides = {},
  unmanaged = false,
): Promise<Inspected> {
  const booted: Readonly<Record<string, string>>[] = []
  const cleaned: string[] = []
  const state: { trouble: Error | null } = { trouble: null }
  class InspectionBoot extends FakeBoot {
    override prepareRamdisk(_task: Task, params: Readonly<Record<string, string>> = {}): Promise<void> {
      booted.push(params)
      return Promise.resolve()
    }
    override cleanUpRamdisk(): Promise<void> {
      cleaned.push('ramdisk')
      return state.trouble === null ? Promise.resolve() : Promise.reject(state.trouble)
    }
    override validateInspection(task: Task): Promise<void> {
      return unmanaged ? super.validateInspection(task) : Promise.resolve()
    }
  }
  const agent = await startAgentForTests(() => ({ body: { commands: [] } }))
  const running = await startAgentConductor(
    t,
    agent,
    {
      provision_state: 'manageable',
      inspect_interface: 'agent',
      network_interface: 'noop',
      driver_info: { some_address: 'https://127.0.0.1:1', other_address: 'http://10.0.0.9:8000' },
      ...values,
    },
    {
      ...overrides,
      DEFAULT: { enabled_inspect_interfaces: ['agent'], enabled_network_interfaces: ['noop'], ...overrides.DEFAULT },
    },
    InspectionBoot,
  )
  const { conductor, node } = running
  return Object.assign(running, {
    booted,
    cleaned,
    breakBoot: (error: Error) => void (state.trouble = error),
    async inspect() {
      await conductor.rpc.inspect_hardware(testContext, { node_id: node.uuid! })
      await conductor.settled()
      return running.now()
    },
    async report(data: JsonDict = inventory, plugin_data: JsonDict = {}) {
      await conductor.rpc.continue_inspection(testContext, { node_id: node.uuid!, inventory: data, plugin_data })
      await conductor.settled()
      return running.now()
    },
  })
}

const bmcOf = (node: Node) => node.driver_internal_info!['lookup_bmc_addresses'] as unknown

test('the ramdisk is booted, its report becomes properties, ports and the inventory, and the machine goes off', async (t) => {
  const run = await start(
    t,
    {},
    { inspector: { extra_kernel_params: 'ipa-debug=1 quiet', hooks: 'validate-interfaces,ports,architecture,memory' } },
  )
  const waiting = await run.inspect()
  assert.equal(waiting.provision_state, 'inspect wait', waiting.last_error ?? '')
  assert.deepEqual(run.booted, [
    {
      'ipa-debug': '1',
      quiet: '',
      'ipa-inspection-callback-url': 'http://127.0.0.1:6385/v1/continue_inspection',
    },
  ])
  assert.deepEqual(bmcOf(waiting), ['10.0.0.9'])
  assert.deepEqual(run.power, ['power on'])
  const node = await run.report()
  assert.equal(node.provision_state, 'manageable', node.last_error ?? '')
  assert.equal(node.properties!['memory_mb'], 8192)
  assert.equal(node.properties!['cpu_arch'], 'x86_64')
  assert.deepEqual(run.cleaned, ['ramdisk'])
  assert.deepEqual(run.power, ['power on', 'power off'])
  assert.equal(node.driver_internal_info!['inspector_manage_boot'], undefined)
  const stored = await findNodeInventory(run.conductor.db, node.id)
  assert.deepEqual(stored?.inventory_data, inventory)
})

test('a fast track agent is told where the API is, and stays', async (t) => {
  const run = await start(t, {}, { deploy: { fast_track: true }, inspector: { force_dhcp: true } })
  await run.inspect()
  assert.equal(run.booted[0]!['ipa-api-url'], 'http://127.0.0.1:6385')
  assert.equal(run.booted[0]!['ipa-collect-lldp'], '1')
  assert.equal((await run.report()).provision_state, 'manageable')
  assert.deepEqual(run.power, ['power on'])
})

test('a machine that must not be powered off is rebooted', async (t) => {
  const run = await start(t, { disable_power_off: true, power_state: 'power on' })
  await run.inspect()
  await run.report()
  assert.deepEqual(run.power, ['rebooting', 'rebooting'])
})

test('boot that this service does not manage must be allowed', async (t) => {
  const refused = await start(t, {}, {}, true)
  await assert.rejects(refused.inspect(), /validate_inspection/)
  const run = await start(t, {}, { inspector: { require_managed_boot: false } }, true)
  const waiting = await run.inspect()
  assert.equal(waiting.provision_state, 'inspect wait', waiting.last_error ?? '')
  assert.deepEqual(run.booted, [])
  assert.equal((await run.report()).provision_state, 'manageable')
  assert.deepEqual(run.cleaned, [])
  assert.deepEqual(run.power, ['power on', 'power off'])
})

test('a report that the hooks refuse ends the inspection and keeps the logs', async (t) => {
  const run = await start(t)
  await run.inspect()
  const logs = Buffer.from('what happened').toString('base64')
  const node = await run.report({ ...inventory, interfaces: [] }, { logs })
  assert.equal(node.provision_state, 'inspect failed')
  assert.deepEqual(run.cleaned, ['ramdisk'])
  const [name] = await readdir(join(run.folder, 'logs'))
  assert.match(name!, /_inspect_.*\.tar\.gz$/)
  assert.equal(await readFile(join(run.folder, 'logs', name!), 'utf8'), 'what happened')
})

test('aborted: the ramdisk goes, the machine goes off; what fails then is told', async (t) => {
  for (const trouble of [null, new Error('no medium')]) {
    const run = await start(t)
    await run.inspect()
    if (trouble !== null) run.breakBoot(trouble)
    await run.conductor.rpc.do_provisioning_action(testContext, { node_id: run.node.uuid!, action: 'abort' })
    await run.conductor.settled()
    const node = await run.now()
    assert.equal(node.provision_state, 'inspect failed')
    assert.equal(bmcOf(node), undefined)
    assert.deepEqual(run.cleaned, ['ramdisk'])
    assert.deepEqual(run.power, ['power on', 'power off'])
  }
})

test('a machine whose medium cannot be taken away has not been inspected', async (t) => {
  const run = await start(t)
  await run.inspect()
  run.breakBoot(new Error('no medium'))
  const node = await run.report()
  assert.equal(node.provision_state, 'inspect failed')
  assert.match(node.last_error!, /cleaning up the ramdisk failed: no medium/)
})
