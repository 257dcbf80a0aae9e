import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listBiosSettings } from '../../db/bios-settings.ts'
import { openDatabase } from '../../db/database.ts'
import { createSchema } from '../../db/migrations/index.ts'
import { createNode } from '../../db/nodes.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import { error, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { RedfishBios } from './bios.ts'
import { redfishBench } from './for-tests.ts'

const bios = `${systemPath}/Bios`
const settings = `${bios}/Settings`
const registries = '/redfish/v1/Registries'
const tree = {
  ...standardTree,
  '/redfish/v1': { ...standardTree['/redfish/v1'], Registries: { '@odata.id': registries } },
  [bios]: {
    Id: 'Bios',
    AttributeRegistry: 'BiosRegistry.v1',
    Attributes: { Turbo: 'Enabled', Quiet: true, Retry: 3, Label: 'x', Fixed: 'f' },
    '@Redfish.Settings': {
      SettingsObject: { '@odata.id': settings },
      ETag: 'x',
      SupportedApplyTimes: ['OnReset', 'Immediate'],
    },
    Actions: { '#Bios.ResetBios': { target: `${bios}/Actions/Bios.ResetBios` } },
  },
  [settings]: { Id: 'Settings', Attributes: {} },
  [registries]: { Members: [{ '@odata.id': `${registries}/Base` }, { '@odata.id': `${registries}/BiosRegistry.v1` }] },
  [`${registries}/BiosRegistry.v1`]: {
    Id: 'BiosRegistry.v1',
    Location: [{ Language: 'en', Uri: `${registries}/reg.json` }],
  },
  [`${registries}/reg.json`]: {
    '@odata.type': '#AttributeRegistry.v1_3_0.AttributeRegistry',
    RegistryEntries: {
      Attributes: [
        {
          AttributeName: 'Turbo',
          Type: 'Enumeration',
          Value: [{ ValueName: 'Enabled' }, { ValueDisplayName: 'Disabled' }, {}],
          ResetRequired: true,
        },
        { AttributeName: 'Quiet', Type: 'Boolean' },
        { AttributeName: 'Retry', Type: 'Integer', LowerBound: 0, UpperBound: 9 },
        { AttributeName: 'Label', Type: 'String', MinLength: 1, MaxLength: 4 },
        { AttributeName: 'Fixed', Type: 'String', ReadOnly: true },
      ],
    },
  },
}

async function bench(
  node: Record<string, unknown> = {},
  resources: Readonly<Record<string, Record<string, unknown>>> = tree,
) {
  const bmc = await ScriptedBmc.start(resources)
  const db = await openDatabase('sqlite://', {})
  await createSchema(db)
  const used = redfishBench(bmc, {
    db,
    node: {
      provision_state: 'cleaning',
      driver_internal_info: { cleaning_disable_ramdisk: true },
      clean_step: { interface: 'bios', step: 'apply_configuration' },
      ...node,
    },
  })
  await createNode(db, { uuid: used.node.uuid, driver: 'redfish' })
  const face = new RedfishBios(used.parts)
  const run = (step: string, args: Record<string, unknown> = {}) =>
    face
      .steps()
      .find((each) => each.phase === 'clean' && each.step === step)!
      .run(used.task, args)
  const close = async () => {
    await used[Symbol.asyncDispose]()
    await db.close()
    await bmc.closeServer()
  }
  return { bmc, db, used, face, run, poll: () => face.periodics()[0]!.run(used.task), [Symbol.asyncDispose]: close }
}
const patches = (bmc: ScriptedBmc) => bmc.changes().filter(({ method }) => method === 'PATCH')

test('settings are kept with what the registry says of them; they are forgotten when the BMC has them no more', async () => {
  await using it = await bench()
  await it.face.cacheBiosSettings(it.used.task)
  const [fixed, label, quiet, retry, turbo] = await listBiosSettings(it.db, 1)
  assert.deepEqual([quiet!.value, retry!.value, label!.value], ['True', '3', 'x'])
  assert.deepEqual([turbo!.allowable_values, turbo!.reset_required], [['Enabled', 'Disabled'], true])
  assert.deepEqual([retry!.lower_bound, retry!.upper_bound, label!.max_length, fixed!.read_only], [0, 9, 4, true])
  const said = it.bmc.said.length
  await it.face.cacheBiosSettings(it.used.task)
  assert.ok(!it.bmc.said.slice(said).some((line) => line.includes('Registries')))
  delete (it.bmc.resource(bios)['Attributes'] as Record<string, unknown>)['Label']
  await it.face.cacheBiosSettings(it.used.task)
  assert.equal((await listBiosSettings(it.db, 1)).length, 4)
})

test('settings are applied at a restart, looked after without an agent, and checked', async () => {
  await using it = await bench()
  await it.face.cacheBiosSettings(it.used.task)
  const wanted = [
    { name: 'Turbo', value: 'Disabled' },
    { name: 'Retry', value: '5' },
    { name: 'Quiet', value: 'False' },
  ]
  assert.equal(await it.run('apply_configuration', { settings: wanted }), 'wait')
  const [patch] = patches(it.bmc)
  assert.equal(patch!.headers['if-match'], 'x')
  assert.deepEqual(patch!.body, {
    Attributes: { Turbo: 'Disabled', Retry: 5, Quiet: false },
    '@Redfish.SettingsApplyTime': { '@odata.type': '#Settings.v1_0_0.PreferredApplyTime', ApplyTime: 'OnReset' },
  })
  const info = it.used.node.driver_internal_info!
  assert.deepEqual(
    [info['cleaning_reboot'], info['skip_current_clean_step'], info['cleaning_polling']],
    [true, false, true],
  )
  assert.equal(it.bmc.resource(systemPath)['PowerState'], 'On')
  await it.poll()
  assert.deepEqual(it.used.flow, [])
  Object.assign(it.bmc.resource(bios)['Attributes'] as object, { Turbo: 'Disabled', Retry: 5, Quiet: false })
  it.bmc.resource(settings)['Attributes'] = {}
  it.bmc.resource(systemPath)['BootProgress'] = { LastState: 'MemoryInitializationStarted' }
  await it.poll()
  assert.deepEqual(it.used.flow, [])
  it.bmc.resource(systemPath)['BootProgress'] = { LastState: 'OSRunning' }
  await it.poll()
  assert.deepEqual(it.used.flow, ['resume'])
  assert.equal(await it.run('apply_configuration', { settings: wanted }), undefined)
  assert.equal(info['redfish_bios_state'] ?? it.used.node.driver_internal_info!['redfish_bios_state'], undefined)
  assert.equal((await listBiosSettings(it.db, 1)).find(({ name }) => name === 'Turbo')!.value, 'Disabled')
  assert.equal(await it.run('apply_configuration', { settings: wanted }), undefined)
  assert.equal(patches(it.bmc).length, 1)
})

test('settings that are not there after the restart fail the step by name', async () => {
  await using it = await bench()
  const wanted = { settings: [{ name: 'Turbo', value: 'Disabled' }] }
  await it.run('apply_configuration', wanted)
  await assert.rejects(async () => it.run('apply_configuration', wanted), /does not have the BIOS settings Turbo/)
  assert.equal(it.used.clock.slept.filter((ms) => ms === 10_000).length, 5)
  assert.equal(it.used.node.driver_internal_info!['redfish_bios_state'], undefined)
})

test('values that do not fit are refused before the BMC hears of them', async () => {
  await using it = await bench()
  await it.face.cacheBiosSettings(it.used.task)
  for (const [name, value] of [
    ['Turbo', 'Maybe'],
    ['Retry', 10],
    ['Retry', 'x'],
    ['Label', ''],
    ['Label', 'toolong'],
    ['Fixed', 'f'],
  ] as const)
    await assert.rejects(
      async () => it.run('apply_configuration', { settings: [{ name, value }] }),
      (thrown) => thrown instanceof InvalidParameterValue && thrown.message.includes(name),
    )
  for (const bad of [undefined, 'x', [{}], [{ name: 1, value: 2 }]])
    await assert.rejects(async () => it.run('apply_configuration', { settings: bad }), InvalidParameterValue)
  assert.deepEqual(patches(it.bmc), [])
})

test('makers differ: no apply times, apply time demanded, all settings pending, no settings resource, a body for the reset', async () => {
  const variant = (change: (body: Record<string, unknown>) => void) => {
    const body = structuredClone(tree[bios]) as Record<string, unknown>
    change(body)
    return { ...tree, [bios]: body }
  }
  const wanted = { settings: [{ name: 'Turbo', value: 'Disabled' }] }
  const noTimes = variant(
    (body) => delete (body['@Redfish.Settings'] as Record<string, unknown>)['SupportedApplyTimes'],
  )
  await using plain = await bench({}, noTimes)
  await plain.run('apply_configuration', wanted)
  assert.deepEqual(patches(plain.bmc)[0]!.body, { Attributes: { Turbo: 'Disabled' } })
  await using demanding = await bench({}, noTimes)
  demanding.bmc.when('PATCH', settings, ({ body }) =>
    JSON.stringify(body).includes('OnReset') ? undefined : error(400, 'PropertyMissing', 'ApplyTime is needed'),
  )
  await demanding.run('apply_configuration', wanted)
  assert.equal(patches(demanding.bmc).length, 2)
  await using verbose = await bench(
    {},
    { ...tree, [settings]: { Id: 'Settings', Attributes: structuredClone(tree[bios].Attributes) } },
  )
  await verbose.run('apply_configuration', wanted)
  Object.assign(verbose.bmc.resource(bios)['Attributes'] as object, { Turbo: 'Disabled' })
  await verbose.run('apply_configuration', wanted)
  await using direct = await bench(
    {},
    variant((body) => delete body['@Redfish.Settings']),
  )
  await direct.run('apply_configuration', wanted)
  assert.equal(patches(direct.bmc)[0]!.path, bios)
  await using reset = await bench()
  reset.bmc.when('POST', /ResetBios/, ({ body }) =>
    body === undefined ? error(415, 'GeneralError', 'body') : undefined,
  )
  assert.equal(await reset.run('factory_reset'), 'wait')
  assert.equal(await reset.run('factory_reset'), undefined)
})

test('a BMC without BIOS settings says so, and one without registry keeps plain values', async () => {
  const system = structuredClone(standardTree[systemPath]!)
  delete system['Bios']
  await using none = await bench({}, { ...tree, [systemPath]: system })
  await assert.rejects(none.face.cacheBiosSettings(none.used.task), UnsupportedDriverExtension)
  await assert.rejects(async () => none.run('factory_reset'), /has no BIOS settings/)
  await using plain = await bench(
    {},
    { ...tree, [`${registries}/reg.json`]: { '@odata.type': '#MessageRegistry.v1.MessageRegistry' } },
  )
  await plain.face.cacheBiosSettings(plain.used.task)
  assert.equal((await listBiosSettings(plain.db, 1))[0]!.attribute_type, null)
})
