import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'
import { error, mediaPath, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from './for-tests.ts'

const insertCd = `${mediaPath}/Cd/Actions/VirtualMedia.InsertMedia`
const ejectCd = `${mediaPath}/Cd/Actions/VirtualMedia.EjectMedia`
const bodies = (bmc: ScriptedBmc) => bmc.changes().map(({ body }) => body)
const url = 'http://198.51.100.1/redfish/boot.iso'
const attach = (bench: ReturnType<typeof redfishBench>, image = url) =>
  bench.management.attachVirtualMedia(bench.task, 'cdrom', image)

test('only the address is sent, unless the BMC asks for more, and then just that', async () => {
  const wants =
    (name: string) =>
    ({ body }: { body: unknown }) => {
      const sent = body as Record<string, unknown>
      const unknown = Object.keys(sent).find(
        (each) => !['Image', name, ...(name === 'UserName' ? ['Password'] : [])].includes(each),
      )
      if (unknown !== undefined) return error(400, 'ActionParameterNotSupported', unknown)
      return sent[name] === undefined
        ? error(400, 'ActionParameterMissing', `The action InsertMedia requires the parameter ${name} to be present.`, {
            MessageArgs: ['InsertMedia', name],
          })
        : undefined
    }
  const cases: [string, Record<string, unknown>][] = [
    ['TransferProtocolType', { TransferProtocolType: 'HTTP' }],
    ['TransferMethod', { TransferMethod: 'Stream' }],
    ['UserName', { UserName: 'none', Password: 'none' }],
  ]
  for (const [name, more] of cases) {
    await using bmc = await ScriptedBmc.start()
    bmc.when('POST', insertCd, wants(name))
    await using bench = redfishBench(bmc)
    await attach(bench)
    assert.deepEqual(bodies(bmc), [{ Image: url }, { Image: url, ...more }])
  }
})

test('an error that only says so in words is understood; BMC credentials are never sent to it', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when(
    'POST',
    insertCd,
    { status: 400, body: { error: { code: 'Base.1.0.GeneralError', message: 'UserName parameter missing' } } },
    1,
  )
  await using bench = redfishBench(bmc)
  await attach(bench, 'https://x/y.iso')
  assert.deepEqual(bodies(bmc)[1], { Image: 'https://x/y.iso', UserName: 'none', Password: 'none' })
  assert.doesNotMatch(JSON.stringify(bodies(bmc)), /admin|secret/)
})

test('a slot that is no use is passed over; without any the reasons are listed', async () => {
  const noInsert = structuredClone(standardTree[`${mediaPath}/Cd`]!)
  delete noInsert['Actions']
  const other = (name: string) =>
    JSON.parse(JSON.stringify(standardTree[`${mediaPath}/Cd`]).replaceAll('/Cd', `/${name}`)) as Record<string, unknown>
  const tree = {
    ...standardTree,
    [mediaPath]: { Members: ['Cd', 'B', 'C', 'D'].map((name) => ({ '@odata.id': `${mediaPath}/${name}` })) },
    [`${mediaPath}/Cd`]: noInsert,
    [`${mediaPath}/B`]: other('B'),
    [`${mediaPath}/C`]: other('C'),
    [`${mediaPath}/D`]: other('D'),
  }
  await using bmc = await ScriptedBmc.start(tree)
  bmc.when('POST', /\/B\/Actions/, error(405, 'ActionNotSupported', 'for KVM only'))
  await using bench = redfishBench(bmc)
  await attach(bench)
  assert.equal(bmc.resource(`${mediaPath}/C`)['Inserted'], true)
  assert.equal(bmc.resource(`${mediaPath}/D`)['Inserted'], false)
  bmc.when('POST', /InsertMedia/, error(400, 'GeneralError', 'no room'))
  await assert.rejects(attach(bench), (thrown) => {
    assert.ok(thrown instanceof InvalidParameterValue)
    assert.match(thrown.message, /Cd.*InsertMedia is missing.*\/B:.*no room.*\/C:.*no room.*\/D:.*no room/s)
    return true
  })
})

test('a slot is changed by PATCH where there is no action but it may be patched', async () => {
  await using bmc = await ScriptedBmc.start()
  const body = structuredClone(standardTree[`${mediaPath}/Cd`]!)
  delete body['Actions']
  bmc.tree.set(`${mediaPath}/Cd`, body)
  bmc.when('GET', `${mediaPath}/Cd`, () => ({ status: 200, headers: { Allow: 'GET, PATCH', ETag: '"5"' }, body }))
  await using bench = redfishBench(bmc)
  await attach(bench)
  await bench.management.detachVirtualMedia(bench.task, ['cdrom'])
  assert.deepEqual(bodies(bmc), [
    { Image: url, Inserted: true, WriteProtected: true },
    { Image: null, Inserted: false },
  ])
  assert.equal(bmc.changes()[0]!.headers['if-match'], '"5"')
})

test('a CD goes into a slot that says DVD only, under the system before the managers', async () => {
  const own = `${systemPath}/VirtualMedia`
  const slot = JSON.parse(JSON.stringify(standardTree[`${mediaPath}/Cd`]).replaceAll(mediaPath, own)) as Record<
    string,
    unknown
  >
  slot['MediaTypes'] = ['DVD']
  await using bmc = await ScriptedBmc.start({
    ...standardTree,
    [systemPath]: { ...standardTree[systemPath], VirtualMedia: { '@odata.id': own } },
    [own]: { Members: [{ '@odata.id': `${own}/Cd` }] },
    [`${own}/Cd`]: slot,
  })
  await using bench = redfishBench(bmc)
  await attach(bench)
  assert.equal(bmc.resource(`${own}/Cd`)['Inserted'], true)
  assert.ok(!bmc.said.some((line) => line.includes('/Managers/')))
})

test('the same image in the slot is taken out and put in anew, after the slot is seen empty', async () => {
  await using bmc = await ScriptedBmc.start()
  Object.assign(bmc.resource(`${mediaPath}/Cd`), { Inserted: true, Image: url })
  let looks = 0
  bmc.when('POST', ejectCd, { status: 204 })
  bmc.when('GET', `${mediaPath}/Cd`, () => {
    if (bmc.said.includes(`POST ${ejectCd}`) && ++looks === 3)
      Object.assign(bmc.resource(`${mediaPath}/Cd`), { Inserted: false, Image: '' })
    return undefined
  })
  await using bench = redfishBench(bmc)
  await attach(bench)
  assert.deepEqual(
    bmc.changes().map(({ path }) => path),
    [ejectCd, insertCd],
  )
  assert.ok(bmc.said.indexOf(`POST ${insertCd}`) > bmc.said.indexOf(`POST ${ejectCd}`) + 2)
})

test('a medium that is not in afterwards is warned of, and an error where polling is asked for', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', insertCd, { status: 204 })
  await using bench = redfishBench(bmc)
  await attach(bench)
  assert.match(bench.warnings.join(), /says that nothing is inserted/)
  await using strict = redfishBench(bmc, { config: { redfish: { enable_vmedia_insert_polling: true } } })
  await assert.rejects(
    attach(strict),
    (thrown) => thrown instanceof RedfishError && /does not show the medium within 60 s/.test(thrown.message),
  )
})

test('an eject that wants a body gets one; one that fails although the slot is empty is fine', async () => {
  await using bmc = await ScriptedBmc.start()
  const slot = bmc.resource(`${mediaPath}/Cd`)
  Object.assign(slot, { Inserted: true })
  bmc.when('POST', ejectCd, ({ body }) => (body === undefined ? error(415, 'GeneralError', 'body') : undefined))
  await using bench = redfishBench(bmc)
  await bench.management.detachVirtualMedia(bench.task, ['cdrom'])
  assert.equal(slot['Inserted'], false)
  Object.assign(slot, { Inserted: true })
  bmc.when('POST', ejectCd, () => {
    Object.assign(slot, { Inserted: false })
    return error(400, 'GeneralError', 'nothing to eject')
  })
  await bench.management.detachVirtualMedia(bench.task, ['cdrom'])
})

test('a BMC that fails at inserting is asked three times', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', insertCd, error(500, 'InternalError', 'oops'), 2)
  await using bench = redfishBench(bmc)
  await attach(bench)
  assert.equal(bmc.changes().length, 3)
  bmc.when('POST', insertCd, error(500, 'InternalError', 'oops'))
  await assert.rejects(attach(bench), /oops/)
})
