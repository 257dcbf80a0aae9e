/** Whole flows of the conductor with the Redfish driver, against what real Ironic made of the same requests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { test } from 'node:test'
import { commandResult, startAgentForTests } from '../../../src/agent/agent-for-tests.ts'
import { allInterfaces } from '../../../src/conductor/all-interfaces.ts'
import {
  createTestNode,
  startTestConductor,
  testContext,
  type TestConductor,
} from '../../../src/conductor/for-tests.ts'
import { IronicError } from '../../../src/errors/define.ts'
import { mediaPath, type ScriptedBmc, systemPath } from '../../../src/lib/redfish/for-tests.ts'
import type { Node } from '../../../src/objects/index.ts'
import { addVolume, startMachine, volumesOf } from './machine.ts'

type Json = Record<string, unknown>
interface Entry {
  readonly from?: string
  readonly to?: string
  readonly method?: string
  readonly path?: string
  readonly request_body?: Json
  readonly event?: string
  readonly state?: Partial<Node>
}

const recorded = (name: string) =>
  (JSON.parse(readFileSync(new URL(`flows/${name}.json`, import.meta.url), 'utf8')) as { entries: readonly Entry[] })
    .entries

interface Change {
  readonly method: string
  /** the last parts of the path: machines differ in the rest */
  readonly what: string
  readonly body: unknown
}

/** The names that recordings have, and those that are new in every run. */
function changeOf(method: string, path: string, body: unknown): Change {
  const plain = (text: string) => text.replace(/\/Systems\/(host|1)(?=[/"]|$)/g, '/the-system')
  const named = plain(JSON.stringify(body ?? null))
    .replace(/http:[^"]*\/(boot-|ramdisk\.iso)[^"]*/g, 'the boot image')
    .replace(/http:[^"]*\/([\w-]+\.bin)/g, '$1')
  return { method, what: plain(path).split('/').slice(-3).join('/'), body: JSON.parse(named) as unknown }
}

/** What changed the machine. */
const recordedChanges = (entries: readonly Entry[]) =>
  entries
    .filter(
      ({ from, to, method, path }) =>
        from === 'conductor' && to?.startsWith('bmc') === true && method !== 'GET' && !path!.includes('Sessions'),
    )
    .map(({ method, path, request_body }) => changeOf(method!, path!, request_body))

const changesOf = (bmc: ScriptedBmc) => bmc.changes().map(({ method, path, body }) => changeOf(method, path, body))

const resetOf = ({ body }: Change) => (body as Json | null)?.['ResetType']

/** Real Ironic restarts a machine twice for one BIOS update; the second time says nothing that the first has not. */
const restartingOnce = (changes: readonly Change[]) =>
  changes.filter(
    (change, index) =>
      !(resetOf(change) === 'ForceOff' && repeatsRestart(changes, index)) &&
      !(resetOf(change) === 'On' && repeatsRestart(changes, index - 1)),
  )
const repeatsRestart = (changes: readonly Change[], off: number) =>
  changes
    .slice(Math.max(0, off - 2), off + 2)
    .map(resetOf)
    .join() === 'ForceOff,On,ForceOff,On'

/** The path that a node takes through its states, each once. */
const walk = (states: readonly (string | null | undefined)[]) =>
  states.filter((state, index) => state !== undefined && state !== states[index - 1])

/** Time a thousand times as fast: polls come to their turn. */
const fastClock = {
  now: () => new Date(),
  sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(Math.max(2, ms / 1000), undefined, { signal })
  },
}

const startConductor = () =>
  startTestConductor({
    clock: fastClock,
    interfaces: allInterfaces,
    config: {
      DEFAULT: {
        enabled_hardware_types: ['redfish'],
        enabled_bios_interfaces: ['redfish'],
        enabled_boot_interfaces: ['redfish-virtual-media'],
        enabled_console_interfaces: ['no-console'],
        enabled_deploy_interfaces: ['direct'],
        enabled_firmware_interfaces: ['redfish', 'no-firmware'],
        enabled_inspect_interfaces: ['redfish'],
        enabled_management_interfaces: ['redfish'],
        enabled_power_interfaces: ['redfish'],
        enabled_raid_interfaces: ['redfish', 'no-raid'],
        enabled_rescue_interfaces: ['no-rescue'],
        enabled_storage_interfaces: ['noop'],
        enabled_vendor_interfaces: ['no-vendor'],
      },
      agent: { require_tls: false, deploy_logs_collect: 'never', command_wait_interval: 0 },
      deploy: { ramdisk_image_download_source: 'http' },
      redfish: { firmware_source: 'http' },
      service_catalog: { endpoint_override: 'http://127.0.0.1:6385/' },
    },
  })

const createRedfishNode = (conductor: TestConductor, bmc: ScriptedBmc, values: Partial<Node> = {}) =>
  createTestNode(conductor, {
    driver: 'redfish',
    provision_state: 'manageable',
    power_state: 'power on',
    network_interface: 'noop',
    properties: { capabilities: 'boot_mode:uefi' },
    driver_info: {
      redfish_address: bmc.address,
      redfish_system_id: systemPath,
      redfish_username: 'admin',
      redfish_password: 'secret',
      deploy_iso: 'http://192.0.2.1/ramdisk.iso',
    },
    ...values,
  })

const over = new Set(['manageable', 'clean failed'])

/** Waits for the end of the flow. @returns the states seen */
async function untilOver(conductor: TestConductor, uuid: string, meanwhile?: (node: Node) => Promise<void>) {
  const states: (string | null)[] = []
  const deadline = Date.now() + 30_000
  for (;;) {
    const node = await conductor.node(uuid)
    states.push(node.provision_state)
    if (over.has(node.provision_state ?? '') && node.reservation === null) return states
    assert.ok(Date.now() < deadline, `still ${node.provision_state}: ${JSON.stringify(node.clean_step)}`)
    await meanwhile?.(node)
    await setTimeout(2)
  }
}

for (const name of ['b15-bios-apply-no-ramdisk', 'b15-bios-factory-reset-no-ramdisk']) {
  test(`${name}: the same changes in the same order, the same states`, async () => {
    await using bmc = await startMachine()
    await using conductor = await startConductor()
    const uuid = (await createRedfishNode(conductor, bmc)).uuid!
    const entries = recorded(name)
    const request = entries.find(({ from }) => from === 'client')!.request_body!
    await conductor.rpc.do_node_clean(testContext, {
      node_id: uuid,
      clean_steps: request['clean_steps'] as never,
      disable_ramdisk: true,
    })
    const states = await untilOver(conductor, uuid)
    assert.deepEqual(changesOf(bmc), recordedChanges(entries))
    const theirs = walk(entries.map(({ state }) => state?.provision_state))
    // a state may be over before it is looked at
    assert.deepEqual(
      walk(states).filter((state) => !theirs.includes(state)),
      [],
    )
    const node = await conductor.node(uuid)
    assert.deepEqual([node.last_error, node.clean_step, node.power_state], [null, {}, 'power on'])
    assert.equal(node.driver_internal_info?.['redfish_bios_state'], undefined)
    assert.equal(bmc.sessions.size, 1, 'one login for all of it')
  })
}

test('b17: a step that needs a ramdisk is refused without one', async () => {
  await using bmc = await startMachine()
  await using conductor = await startConductor()
  const uuid = (await createRedfishNode(conductor, bmc)).uuid!
  const request = recorded('b17-firmware-update-refused-without-ramdisk').find(({ from }) => from === 'client')!
  await conductor.rpc.do_node_clean(testContext, {
    node_id: uuid,
    clean_steps: request.request_body!['clean_steps'] as never,
    disable_ramdisk: true,
  })
  await untilOver(conductor, uuid)
  const node = await conductor.node(uuid)
  assert.equal(node.provision_state, 'clean failed')
  assert.match(String(node.last_error), /firmware.*update.*ramdisk/s)
  assert.ok(!changesOf(bmc).some(({ what }) => what.includes('Update')))
})

/** The agent in the machine: there while a medium is in and the machine is on, and new after each start. */
async function agentIn(bmc: ScriptedBmc, conductor: TestConductor, uuid: string) {
  const agent = await startAgentForTests(({ command, params }) => {
    if (command === null) return { body: { commands: done } }
    const step = (params as Json)['step']
    const result =
      command === 'clean.get_clean_steps'
        ? {
            clean_steps: { manager: [{ interface: 'deploy', step: 'v2_ok', priority: 0, abortable: true }] },
            hardware_manager_version: { manager: '1' },
          }
        : command === 'log.collect_system_logs'
          ? { system_logs: '' }
          : { clean_result: null, clean_step: step }
    const answer = commandResult(command, 'SUCCEEDED', result)
    done.push(answer.body)
    return answer
  })
  let done: unknown[] = []
  let token: string | null = null
  let starts = -1
  const live = async () => {
    const now = bmc.requests.filter(({ body }) => (body as Json | undefined)?.['ResetType'] === 'On').length
    const there =
      bmc.resource(systemPath)['PowerState'] === 'On' && bmc.resource(`${mediaPath}/Cd`)['Inserted'] === true
    if (!there) return
    if (now !== starts) {
      starts = now
      token = null
      done = []
    }
    try {
      if (token === null) {
        const { driver_internal_info: info } = await conductor.rpc.get_node_with_token(testContext, { node_id: uuid })
        const given: unknown = info?.['agent_secret_token']
        if (typeof given !== 'string' || given.includes('*')) return
        token = given
      }
      await conductor.rpc.heartbeat(testContext, {
        node_id: uuid,
        callback_url: agent.url,
        agent_version: '13.0.0',
        agent_token: token,
      })
    } catch (error) {
      assert.ok(error instanceof IronicError, String(error))
    }
  }
  return { live, [Symbol.asyncDispose]: () => agent.close() }
}

const withAgent: readonly (readonly [name: string, prepare?: (bmc: ScriptedBmc) => Partial<Node>])[] = [
  ['a18-bios-apply-with-ramdisk'],
  [
    'a19-raid-create',
    (bmc) => {
      // left behind by what was before
      bmc.resource(systemPath)['PowerState'] = 'On'
      bmc.resource(`${mediaPath}/Cd`)['Inserted'] = true
      const disk = { size_gb: 100, raid_level: '1', is_root_volume: true, controller: 'raid' }
      return { power_state: 'power on', raid_interface: 'redfish', target_raid_config: { logical_disks: [disk] } }
    },
  ],
  [
    'a19-raid-delete',
    (bmc) => {
      addVolume(bmc, { RAIDType: 'RAID1', VolumeType: 'Mirrored', CapacityBytes: 107374182400 })
      return { raid_interface: 'redfish' }
    },
  ],
  ['a20-firmware-update-with-ramdisk'],
]

for (const [name, prepare] of withAgent) {
  test(`${name}: the same changes in the same order, with the agent in between`, async () => {
    await using bmc = await startMachine()
    bmc.resource(systemPath)['PowerState'] = 'Off'
    await using conductor = await startConductor()
    const node = await createRedfishNode(conductor, bmc, { power_state: 'power off', ...prepare?.(bmc) })
    await using agent = await agentIn(bmc, conductor, node.uuid!)
    const entries = recorded(name)
    await conductor.rpc.do_node_clean(testContext, {
      node_id: node.uuid!,
      clean_steps: entries.findLast(({ from }) => from === 'client')!.request_body!['clean_steps'] as never,
      disable_ramdisk: false,
    })
    await untilOver(conductor, node.uuid!, () => agent.live())
    const { provision_state, last_error } = await conductor.node(node.uuid!)
    assert.deepEqual([provision_state, last_error], ['manageable', null])
    assert.deepEqual(changesOf(bmc), restartingOnce(recordedChanges(entries)))
    assert.equal(volumesOf(bmc).length, name === 'a19-raid-create' ? 1 : 0)
  })
}
