import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PowerStateFailure, RedfishConnectionError, RedfishError } from '../../errors/driver.ts'
import { error, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from './for-tests.ts'

const reset = `${systemPath}/Actions/ComputerSystem.Reset`
const resets = (bmc: ScriptedBmc) => bmc.changes().map(({ body }) => (body as { ResetType: string }).ResetType)

test('each state is reached by its reset', async () => {
  const cases: [string, string, string[]][] = [
    ['power on', 'Off', ['On']],
    ['power off', 'On', ['ForceOff']],
    ['soft power off', 'On', ['GracefulShutdown']],
    ['soft rebooting', 'On', ['GracefulRestart']],
    ['rebooting', 'On', ['ForceRestart']],
  ]
  for (const [target, before, sent] of cases) {
    await using bmc = await ScriptedBmc.start()
    bmc.resource(systemPath)['PowerState'] = before
    await using bench = redfishBench(bmc)
    await bench.power.setPowerState(bench.task, target)
    assert.deepEqual(resets(bmc), sent, target)
  }
})

test('power states on their way count as reached; unknown ones as unknown', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  for (const [shown, state] of [
    ['PoweringOn', 'power on'],
    ['PoweringOff', 'power off'],
    ['Paused', null],
    ['Weird', null],
    [undefined, null],
  ] as const) {
    bmc.resource(systemPath)['PowerState'] = shown
    assert.equal(await bench.power.getPowerState(bench.task), state)
  }
})

test('a reboot is off, wait, on, wait; one that must not be powered off is restarted', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.resource(systemPath)['PowerState'] = 'On'
  await using bench = redfishBench(bmc)
  await bench.power.reboot(bench.task)
  assert.deepEqual(resets(bmc), ['ForceOff', 'On'])
  bench.node.disable_power_off = true
  await bench.power.reboot(bench.task)
  assert.deepEqual(resets(bmc).slice(2), ['ForceRestart'])
  assert.ok(bench.clock.slept.includes(15_000))
  bench.node.disable_power_off = false
  bmc.resource(systemPath)['PowerState'] = 'Off'
  await bench.power.reboot(bench.task)
  assert.deepEqual(resets(bmc).slice(3), ['On'])
})

test('a BMC that takes a reset and does nothing is a failure after the time limit', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', reset, { status: 204 })
  await using bench = redfishBench(bmc, { config: { conductor: { power_state_change_timeout: 60 } } })
  await assert.rejects(bench.power.setPowerState(bench.task, 'power on'), PowerStateFailure)
  const waited = bench.clock.slept.reduce((sum, ms) => sum + ms, 0)
  assert.ok(waited >= 60_000 && waited < 75_000, `${waited} ms`)
  const before = bench.clock.slept.length
  await assert.rejects(bench.power.setPowerState(bench.task, 'power on', { timeout: 5 }), PowerStateFailure)
  assert.ok(bench.clock.slept.slice(before).reduce((sum, ms) => sum + ms, 0) <= 5000)
})

test('a BMC that refuses the state it is in is right; one that refuses another is not', async () => {
  for (const status of [400, 409]) {
    await using bmc = await ScriptedBmc.start()
    bmc.resource(systemPath)['PowerState'] = 'Off'
    bmc.when('POST', reset, error(status, 'PropertyValueConflict', 'no'))
    await using bench = redfishBench(bmc)
    await bench.power.setPowerState(bench.task, 'power off')
    await assert.rejects(bench.power.setPowerState(bench.task, 'soft rebooting'), RedfishError)
  }
})

test('words decide only where the BMC shows no state', async () => {
  await using bmc = await ScriptedBmc.start()
  delete bmc.resource(systemPath)['PowerState']
  bmc.when('POST', reset, error(400, 'GeneralError', 'Host is powered OFF'))
  await using bench = redfishBench(bmc)
  await bench.power.setPowerState(bench.task, 'power off')
  await assert.rejects(bench.power.setPowerState(bench.task, 'power on'), RedfishError)
})

test('a power on that is refused for a while after a power off is tried again, others are not', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', reset, error(409, 'ActionParameterValueConflict', 'settling'), 4)
  await using bench = redfishBench(bmc)
  await bench.power.setPowerState(bench.task, 'power on')
  assert.equal(resets(bmc).length, 5)
  assert.deepEqual(bench.clock.slept.slice(0, 4), Array(4).fill(10_000))
  bmc.when('POST', reset, error(409, 'ActionParameterValueConflict', 'the vendor says why'), 100)
  bmc.resource(systemPath)['PowerState'] = 'Off'
  await assert.rejects(bench.power.setPowerState(bench.task, 'power on'), /the vendor says why/)
  assert.equal(resets(bmc).length, 5 + 7)
})

test('a soft power off that the BMC does not know is refused before anything is sent', async () => {
  const system = structuredClone(standardTree[systemPath]!) as { Actions: Record<string, Record<string, unknown>> }
  system.Actions['#ComputerSystem.Reset']!['ResetType@Redfish.AllowableValues'] = ['On', 'ForceOff']
  await using bmc = await ScriptedBmc.start({ ...standardTree, [systemPath]: system })
  await using bench = redfishBench(bmc)
  await assert.rejects(
    bench.power.setPowerState(bench.task, 'soft power off'),
    /does not take GracefulShutdown.*On, ForceOff/,
  )
  assert.deepEqual(bmc.changes(), [])
})

test('errors name the node and what to do, and never the password', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc, { node: { driver_info: { redfish_password: 'hunter2' } } })
  await assert.rejects(bench.power.getPowerState(bench.task), (thrown) => {
    assert.ok(thrown instanceof RedfishError)
    assert.match(thrown.message, /check the credentials in driver_info/)
    assert.doesNotMatch(`${thrown.message} ${thrown.stack} ${String((thrown.cause as Error).stack)}`, /hunter2/)
    return true
  })
  const gone = await ScriptedBmc.start()
  await gone.closeServer()
  await using lost = redfishBench(gone)
  await assert.rejects(
    lost.power.getPowerState(lost.task),
    (thrown) => thrown instanceof RedfishConnectionError && /redfish_address/.test(thrown.message),
  )
  assert.deepEqual(lost.clock.slept, [4000, 4000, 4000, 4000])
})

test('a new password is used at once, and the old session is ended', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  await bench.power.getPowerState(bench.task)
  assert.equal(bmc.sessions.size, 1)
  bmc.password = 'other'
  bench.node.driver_info = { ...bench.node.driver_info, redfish_password: 'other' }
  await bench.power.getPowerState(bench.task)
  assert.equal(bmc.logins, 2)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual([...bmc.sessions.values()], ['/redfish/v1/SessionService/Sessions/2'])
})

test('fifty operations at once share one session, which is gone after the end', async () => {
  await using bmc = await ScriptedBmc.start()
  {
    await using bench = redfishBench(bmc)
    await Promise.all(Array.from({ length: 50 }, () => bench.power.getPowerState(bench.task)))
    assert.equal(bmc.sessions.size, 1)
  }
  assert.equal(bmc.sessions.size, 0)
})
