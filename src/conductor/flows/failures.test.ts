/**
 * What happens to a node when a flow fails, hangs, is cut off, times out or is aborted, at each of its steps. The lists of flows
 * and steps come from the tables; nobody writes the cases by hand.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateNode } from '../../db/nodes.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../../domain/states.ts'
import { interfaceTypes } from '../../domain/interfaces.ts'
import { FakeBios } from '../../drivers/fake/bios.ts'
import { FakeDeploy } from '../../drivers/fake/deploy.ts'
import { FakeInspect } from '../../drivers/fake/inspect.ts'
import { FakePower } from '../../drivers/fake/power.ts'
import { FakeRescue } from '../../drivers/fake/rescue.ts'
import { interfaceClasses, type InterfaceClasses } from '../../drivers/interface-classes.ts'
import type { StepSpec } from '../../drivers/interfaces/base.ts'
import type { StepPhase, StepResult } from '../../domain/steps.ts'
import type { Node } from '../../objects/index.ts'
import { createTestNode, startTestConductor, testContext, type TestConductor } from '../for-tests.ts'
import { waitTimeouts } from '../periodic/wait-timeouts.ts'
import { cleanFlow, serviceFlow, stepFlows, type StepFlow } from './step-flows.ts'

/** What the driver does at a point that is asked for by name. */
type Act = () => Promise<StepResult | void>
class Script {
  readonly done: string[] = []
  readonly acts = new Map<string, Act>()
  /** resolves when the point is reached */
  readonly reached = new Map<string, () => void>()

  async at(point: string): Promise<StepResult | void> {
    this.done.push(point)
    this.reached.get(point)?.()
    return this.acts.get(point)?.()
  }
  /** The point is reached once more: wait for it. */
  arrival(point: string): Promise<void> {
    return new Promise((resolve) => this.reached.set(point, resolve))
  }
}

const stepNames = ['first', 'second', 'third'] as const

/** Drivers that do what the script says; three steps in each phase. */
function scripted(script: Script, abortable: boolean): InterfaceClasses {
  const steps = (phase: StepPhase): StepSpec[] =>
    stepNames.map((step, index) => ({
      phase,
      step,
      priority: phase === 'clean' || phase === 'deploy' ? 90 - index : 0,
      abortable,
      requiresRamdisk: false,
      run: () => script.at(step),
    }))
  const classes: Partial<InterfaceClasses> = {
    bios: {
      fake: class extends FakeBios {
        override steps = () => [...steps('clean'), ...steps('deploy'), ...steps('service')]
      },
    },
    deploy: {
      fake: class extends FakeDeploy {
        override prepare = async () => void (await script.at('prepare'))
        override cleanUp = async () => void (await script.at('clean up'))
        override tearDown = async () => void (await script.at('tear down'))
        override takeOver = async () => void (await script.at('take over'))
        override prepareCleaning = async () => ((await script.at('prepare cleaning')) === 'wait' ? 'wait' : undefined)
        override tearDownCleaning = async () => void (await script.at('tear down cleaning'))
        override tearDownService = async () => void (await script.at('tear down service'))
      },
    },
    inspect: {
      fake: class extends FakeInspect {
        override inspectHardware = async () => void (await script.at('inspect'))
      },
    },
    power: {
      fake: class extends FakePower {
        override validate = async () => void (await script.at('validate power'))
      },
    },
    rescue: {
      fake: class extends FakeRescue {
        override rescue = async () => void (await script.at('rescue'))
        override unrescue = async () => void (await script.at('unrescue'))
      },
    },
  }
  const merged = interfaceTypes.map((type) => [type, { ...interfaceClasses[type], ...classes[type] }])
  return Object.fromEntries(merged)
}

const config = {
  enabled_vendor_interfaces: ['no-vendor'],
  enabled_inspect_interfaces: ['fake'],
  enabled_bios_interfaces: ['fake'],
}

async function start(script: Script, abortable = true): Promise<TestConductor> {
  return startTestConductor({
    interfaces: scripted(script, abortable),
    config: {
      DEFAULT: config,
      conductor: { check_provision_state_interval: 0, sync_power_state_interval: 0, heartbeat_interval: 3600 },
    },
  })
}

const manualSteps = stepNames.map((step) => ({ interface: 'bios', step }))

/** How each flow of steps begins, and where it ends when all is well. */
const beginnings: Readonly<
  Record<
    StepFlow['phase'],
    { from: string; to: string; begin: (conductor: TestConductor, node_id: string) => Promise<void> }
  >
> = {
  clean: {
    from: 'manageable',
    to: 'available',
    begin: ({ rpc }, node_id) => rpc.do_provisioning_action(testContext, { node_id, action: 'provide' }),
  },
  deploy: {
    from: 'available',
    to: 'active',
    begin: ({ rpc }, node_id) => rpc.do_node_deploy(testContext, { node_id }),
  },
  service: {
    from: 'active',
    to: 'active',
    begin: ({ rpc }, node_id) => rpc.do_node_service(testContext, { node_id, service_steps: manualSteps }),
  },
}

/** How the node is brought on from the fail state by ordinary verbs. */
const waysOut: Readonly<Record<StepFlow['phase'], (conductor: TestConductor, node: Node) => Promise<string>>> = {
  async clean({ rpc, db }, { id, uuid }) {
    await updateNode(db, id, { maintenance: false })
    await rpc.do_provisioning_action(testContext, { node_id: uuid!, action: 'manage' })
    return 'manageable'
  },
  async deploy({ rpc }, { uuid }) {
    await rpc.do_node_deploy(testContext, { node_id: uuid! })
    return 'active'
  },
  async service({ rpc, db }, { id, uuid }) {
    await updateNode(db, id, { maintenance: false })
    await rpc.do_provisioning_action(testContext, { node_id: uuid!, action: 'abort' })
    return 'active'
  },
}

async function nodeIn(conductor: TestConductor, state: string): Promise<Node> {
  const { id, uuid } = await createTestNode(conductor, { vendor_interface: 'no-vendor' })
  await updateNode(conductor.db, id, { provision_state: state, power_state: 'power off' })
  return conductor.node(uuid!)
}

async function bringOn(conductor: TestConductor, flow: StepFlow, script: Script, node: Node): Promise<void> {
  script.acts.clear()
  const expected = await waysOut[flow.phase](conductor, node)
  await conductor.settled()
  assert.equal((await conductor.node(node.uuid!)).provision_state, expected, 'the way out')
}

const hang = (signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cut off')), { once: true })
  })

for (const flow of stepFlows) {
  const { from, to, begin } = beginnings[flow.phase]

  describe(flow.phase, () => {
    test('all its steps run, in order', async () => {
      const script = new Script()
      await using conductor = await start(script)
      const node = await nodeIn(conductor, from)
      await begin(conductor, node.uuid!)
      await conductor.settled()
      const { provision_state: state, last_error, reservation } = await conductor.node(node.uuid!)
      assert.deepEqual([state, last_error, reservation], [to, null, null])
      assert.deepEqual(
        script.done.filter((point) => (stepNames as readonly string[]).includes(point)),
        [...stepNames],
      )
    })

    for (const step of stepNames) {
      test(`fails at ${step}`, async () => {
        const script = new Script()
        await using conductor = await start(script)
        const node = await nodeIn(conductor, from)
        script.acts.set(step, () => Promise.reject(new Error('the disk is on fire')))
        await begin(conductor, node.uuid!)
        await conductor.settled()
        const failed = await conductor.node(node.uuid!)
        assert.deepEqual([failed.provision_state, failed.reservation], [flow.failed, null])
        assert.match(failed.last_error!, new RegExp(`bios\\.${step}.*the disk is on fire`))
        assert.equal(failed.fault, flow.fault)
        assert.equal(failed.maintenance, flow.fault !== null)
        await bringOn(conductor, flow, script, failed)
      })

      test(`the process dies at ${step}`, async () => {
        const script = new Script()
        await using first = await start(script)
        const node = await nodeIn(first, from)
        const dead = new AbortController()
        script.acts.set(step, () => hang(dead.signal))
        const arrived = script.arrival(step)
        await begin(first, node.uuid!)
        await arrived
        script.acts.clear()
        await using second = await first.restart({ crash: true })
        await second.settled()
        const failed = await second.node(node.uuid!)
        assert.deepEqual([failed.provision_state, failed.reservation], [flow.failed, null])
        assert.match(failed.last_error!, new RegExp(flow.running))
        await bringOn(second, flow, script, failed)
        dead.abort()
      })

      test(`${step} goes on by itself: the flow waits, and goes on with the rest`, async () => {
        const script = new Script()
        await using conductor = await start(script)
        const node = await nodeIn(conductor, from)
        script.acts.set(step, () => Promise.resolve('wait'))
        await begin(conductor, node.uuid!)
        await conductor.settled()
        assert.equal((await conductor.node(node.uuid!)).provision_state, flow.waiting)
        await conductor.rpc[`continue_node_${flow.phase}`](testContext, { node_id: node.uuid! })
        await eventually(conductor)
        assert.equal((await conductor.node(node.uuid!)).provision_state, to)
        assert.equal(script.done.filter((point) => point === step).length, 1)
      })

      test(`times out at ${step}`, async () => {
        const script = new Script()
        await using conductor = await start(script)
        const node = await nodeIn(conductor, from)
        script.acts.set(step, () => Promise.resolve('wait'))
        await begin(conductor, node.uuid!)
        await conductor.settled()
        await conductor.db.sql
          .updateTable('nodes')
          .set({ provision_updated_at: '2020-01-01 00:00:00.000000' })
          .where('id', '=', node.id)
          .execute()
        const { parts } = conductor.running
        for (const task of waitTimeouts(parts.config)) await task.run(parts)
        await conductor.settled()
        const failed = await conductor.node(node.uuid!)
        assert.deepEqual([failed.provision_state, failed.reservation], [flow.failed, null])
        assert.match(failed.last_error!, new RegExp(`Timeout.*bios\\.${step}`))
        await bringOn(conductor, flow, script, failed)
      })

      test(`aborted at ${step}`, async () => {
        const script = new Script()
        await using conductor = await start(script)
        const node = await nodeIn(conductor, from)
        script.acts.set(step, () => Promise.resolve('wait'))
        await begin(conductor, node.uuid!)
        await conductor.settled()
        await makeAbortable(conductor, flow, node)
        await conductor.rpc.do_provisioning_action(testContext, { node_id: node.uuid!, action: 'abort' })
        await conductor.settled()
        const aborted = await conductor.node(node.uuid!)
        // servicing gives the machine back
        assert.deepEqual(
          [aborted.provision_state, aborted.reservation],
          [flow === serviceFlow ? 'active' : flow.failed, null],
        )
        assert.match(aborted.last_error!, new RegExp(`aborted.*bios\\.${step}`))
        if (flow !== serviceFlow) await bringOn(conductor, flow, script, aborted)
      })

      test(`aborted at ${step}, which must not be cut off`, async () => {
        const script = new Script()
        await using conductor = await start(script, false)
        const node = await nodeIn(conductor, from)
        script.acts.set(step, () => Promise.resolve('wait'))
        await begin(conductor, node.uuid!)
        await conductor.settled()
        await conductor.rpc.do_provisioning_action(testContext, { node_id: node.uuid!, action: 'abort' })
        assert.equal((await conductor.node(node.uuid!)).provision_state, flow.waiting)
        await conductor.rpc[`continue_node_${flow.phase}`](testContext, { node_id: node.uuid! })
        await eventually(conductor)
        const aborted = await conductor.node(node.uuid!)
        assert.deepEqual([aborted.provision_state, aborted.reservation], [flow.failed, null])
        assert.match(aborted.last_error!, /aborted/)
        assert.equal(script.done.at(-1)!.startsWith('third') && step !== 'third', false, 'a step ran after the abort')
        await bringOn(conductor, flow, script, aborted)
      })
    }
  })
}

/** Deploy steps are abortable unless they say otherwise; the test's rows say it. */
async function makeAbortable({ db }: TestConductor, flow: StepFlow, { id, uuid }: Node): Promise<void> {
  void uuid
  const row = await db.sql.selectFrom('nodes').select(flow.stepField).where('id', '=', id).executeTakeFirstOrThrow()
  const step = JSON.parse(row[flow.stepField] ?? '{}') as Record<string, unknown>
  await updateNode(db, id, { [flow.stepField]: { ...step, abortable: true } })
}

/** A cast has been sent; its work may only be about to begin. */
async function eventually(conductor: TestConductor): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  await conductor.settled()
}

interface Simple {
  readonly name: string
  readonly from: string
  readonly point: string
  readonly begin: (conductor: TestConductor, node_id: string) => Promise<void>
  readonly running: string
  readonly failed: string
}

/** The flows without steps of their own. */
const simpleFlows: readonly Simple[] = [
  {
    name: 'verify',
    from: 'enroll',
    point: 'validate power',
    begin: ({ rpc }, node_id) => rpc.do_provisioning_action(testContext, { node_id, action: 'manage' }),
    running: 'verifying',
    failed: 'enroll',
  },
  {
    name: 'inspect',
    from: 'manageable',
    point: 'inspect',
    begin: ({ rpc }, node_id) => rpc.inspect_hardware(testContext, { node_id }),
    running: 'inspecting',
    failed: 'inspect failed',
  },
  {
    name: 'adopt',
    from: 'manageable',
    point: 'take over',
    begin: ({ rpc }, node_id) => rpc.do_provisioning_action(testContext, { node_id, action: 'adopt' }),
    running: 'adopting',
    failed: 'adopt failed',
  },
  {
    name: 'rescue',
    from: 'active',
    point: 'rescue',
    begin: ({ rpc }, node_id) => rpc.do_node_rescue(testContext, { node_id, rescue_password: 'pw' }),
    running: 'rescuing',
    failed: 'rescue failed',
  },
  {
    name: 'unrescue',
    from: 'rescue',
    point: 'unrescue',
    begin: ({ rpc }, node_id) => rpc.do_node_unrescue(testContext, { node_id }),
    running: 'unrescuing',
    failed: 'unrescue failed',
  },
  {
    name: 'tear down',
    from: 'active',
    point: 'tear down',
    begin: ({ rpc }, node_id) => rpc.do_node_tear_down(testContext, { node_id }),
    running: 'deleting',
    failed: 'error',
  },
]

for (const { name, from, point, begin, running, failed } of simpleFlows) {
  describe(name, () => {
    test('fails', async () => {
      const script = new Script()
      await using conductor = await start(script)
      const node = await nodeIn(conductor, from)
      script.acts.set(point, () => Promise.reject(new Error('the disk is on fire')))
      await begin(conductor, node.uuid!)
      await conductor.settled()
      const after = await conductor.node(node.uuid!)
      assert.deepEqual([after.provision_state, after.reservation], [failed, null])
      assert.match(after.last_error!, /the disk is on fire/)
      script.acts.clear()
      await begin(conductor, node.uuid!)
      await conductor.settled()
      const { provision_state: again } = await conductor.node(node.uuid!)
      assert.ok(again !== failed && !STUCK_STATES_TREATED_AS_FAIL.has(again), `tried again: ${again}`)
    })

    test('the process dies', async () => {
      const script = new Script()
      await using first = await start(script)
      const node = await nodeIn(first, from)
      const dead = new AbortController()
      script.acts.set(point, () => hang(dead.signal))
      const arrived = script.arrival(point)
      await begin(first, node.uuid!)
      await arrived
      assert.equal((await first.node(node.uuid!)).provision_state, running)
      script.acts.clear()
      await using second = await first.restart({ crash: true })
      await second.settled()
      const after = await second.node(node.uuid!)
      assert.deepEqual([after.provision_state, after.reservation], [failed, null])
      assert.match(after.last_error!, new RegExp(running))
      dead.abort()
    })
  })
}

describe('a manual clean', () => {
  test('keeps its target through waiting, holding and failing', async () => {
    const script = new Script()
    await using conductor = await start(script)
    const node = await nodeIn(conductor, 'manageable')
    const node_id = node.uuid!
    script.acts.set('second', () => Promise.resolve('wait'))
    const steps = [manualSteps[0]!, { interface: 'deploy', step: 'hold' }, manualSteps[1]!]
    await conductor.rpc.do_node_clean(testContext, { node_id, clean_steps: steps })
    await conductor.settled()
    const states = async () => {
      const { provision_state: state, target_provision_state: target } = await conductor.node(node_id)
      return [state, target]
    }
    assert.deepEqual(await states(), [cleanFlow.held, 'manageable'])
    await conductor.rpc.do_provisioning_action(testContext, { node_id, action: 'unhold' })
    await conductor.settled()
    assert.deepEqual(await states(), [cleanFlow.waiting, 'manageable'])
    await conductor.rpc.continue_node_clean(testContext, { node_id })
    await eventually(conductor)
    assert.deepEqual(await states(), ['manageable', null])
  })
})
