import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue, RedfishError, UnsupportedDriverExtension } from '../../errors/driver.ts'
import { NodeVerifyFailure } from '../../errors/node.ts'
import { error, mediaPath, ScriptedBmc, standardTree, systemPath } from '../../lib/redfish/for-tests.ts'
import { redfishBench } from './for-tests.ts'

const bodies = (bmc: ScriptedBmc) => bmc.changes().map(({ body }) => body)
const boot = (bmc: ScriptedBmc) => bmc.resource(systemPath)['Boot'] as Record<string, unknown>

test('a boot device is set with what changes, and read back', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  await bench.management.setBootDevice(bench.task, 'cdrom', false)
  await bench.management.setBootDevice(bench.task, 'disk', true)
  assert.deepEqual(bodies(bmc), [
    { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } },
    { Boot: { BootSourceOverrideTarget: 'Cd' } },
    { Boot: { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous' } },
  ])
  assert.deepEqual(await bench.management.getBootDevice(bench.task), { boot_device: 'disk', persistent: true })
  await assert.rejects(bench.management.setBootDevice(bench.task, 'wanboot', false), InvalidParameterValue)
})

test('one GET, one PATCH with its tag: no more than real Ironic sends', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  await bench.power.getPowerState(bench.task)
  bmc.requests.length = 0
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  assert.deepEqual(bmc.said, [`GET ${systemPath}`, `PATCH ${systemPath}`])
  assert.equal(bmc.requests[1]!.headers['if-match'], '"1"')
})

test('a BMC without Continuous gets Once, again before every start', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('PATCH', systemPath, ({ body }) =>
    JSON.stringify(body).includes('Continuous') ? error(400, 'PropertyValueNotInList', 'Continuous') : undefined,
  )
  await using bench = redfishBench(bmc)
  await bench.management.setBootDevice(bench.task, 'disk', true)
  assert.equal(bench.node.driver_internal_info!['redfish_boot_device'], 'disk')
  assert.equal(boot(bmc)['BootSourceOverrideEnabled'], 'Once')
  Object.assign(boot(bmc), { BootSourceOverrideTarget: 'None', BootSourceOverrideEnabled: 'Disabled' })
  await bench.power.setPowerState(bench.task, 'power on')
  assert.deepEqual([boot(bmc)['BootSourceOverrideTarget'], boot(bmc)['BootSourceOverrideEnabled']], ['Hdd', 'Once'])
  await bench.power.reboot(bench.task)
  assert.equal(bmc.changes().filter(({ method }) => method === 'PATCH').length, 4)
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  assert.equal(bench.node.driver_internal_info!['redfish_boot_device'], undefined)
})

test('a device stored by an earlier release is restored too; an unknown one is dropped', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc, { node: { driver_internal_info: { redfish_boot_device: 'cd' } } })
  await bench.power.setPowerState(bench.task, 'power on')
  assert.equal(boot(bmc)['BootSourceOverrideTarget'], 'Cd')
  bench.node.driver_internal_info = { redfish_boot_device: 'tape' }
  await bench.power.reboot(bench.task)
  assert.equal(bench.node.driver_internal_info['redfish_boot_device'], undefined)
})

test('a machine in its self-test is waited for, other refusals are not', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when(
    'PATCH',
    systemPath,
    error(400, 'GeneralError', 'busy', { MessageId: 'iLO.2.14.UnableToModifyDuringSystemPOST' }),
    4,
  )
  await using bench = redfishBench(bmc)
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  assert.deepEqual(bench.clock.slept, [5000, 5000, 5000, 8000])
  bmc.when('PATCH', systemPath, error(400, 'GeneralError', 'never'))
  const before = bmc.changes().length
  await assert.rejects(bench.management.setBootDevice(bench.task, 'pxe', false), RedfishError)
  assert.equal(bmc.changes().length, before + 1)
})

test('what makers want said is said: rows of the quirk table', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  Object.assign(boot(bmc), { BootSourceOverrideEnabled: 'Once' })
  bench.node.properties = { vendor: 'ASRockRack' }
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  bench.node.properties = { vendor: 'Supermicro' }
  bmc.resource(systemPath)['Manufacturer'] = 'Supermicro'
  ;(boot(bmc)['BootSourceOverrideTarget@Redfish.AllowableValues'] as string[]).push('UsbCd')
  await bench.management.setBootDevice(bench.task, 'cdrom', false)
  assert.deepEqual(bodies(bmc), [
    { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once', BootSourceOverrideMode: 'UEFI' } },
    { Boot: { BootSourceOverrideTarget: 'UsbCd', BootSourceOverrideEnabled: 'Once' } },
  ])
})

test('boot settings that live in a settings resource are written there', async () => {
  const settings = `${systemPath}/Settings`
  const system = structuredClone(standardTree[systemPath]!)
  system['@Redfish.Settings'] = { SettingsObject: { '@odata.id': settings } }
  system['Boot'] = { BootSourceOverrideTarget: 'None' }
  const pending = {
    Boot: { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideMode: 'UEFI', BootSourceOverrideTarget: 'Hdd' },
  }
  await using bmc = await ScriptedBmc.start({ ...standardTree, [systemPath]: system, [settings]: pending })
  await using bench = redfishBench(bmc)
  await bench.management.setBootDevice(bench.task, 'pxe', false)
  assert.deepEqual(
    bmc.changes().map(({ path, body }) => [path, body]),
    [[settings, { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } }]],
  )
  assert.equal(await bench.management.getBootMode(bench.task), 'uefi')
})

test('UEFI HTTP boot carries its address, which is cleared with the next device', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc, {
    node: { driver_internal_info: { redfish_uefi_http_url: 'http://x/boot.iso' } },
  })
  await bench.management.setBootDevice(bench.task, 'uefihttp', false)
  await bench.management.setBootDevice(bench.task, 'disk', true)
  assert.deepEqual(bodies(bmc), [
    {
      Boot: {
        BootSourceOverrideTarget: 'UefiHttp',
        HttpBootUri: 'http://x/boot.iso',
        BootSourceOverrideEnabled: 'Once',
      },
    },
    { Boot: { BootSourceOverrideTarget: 'Hdd', HttpBootUri: null, BootSourceOverrideEnabled: 'Continuous' } },
  ])
})

test('a boot mode that is not taken at once makes a restart, and the power is put back', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  await bench.management.setBootMode(bench.task, 'bios')
  assert.deepEqual(bodies(bmc), [{ Boot: { BootSourceOverrideMode: 'Legacy' } }])
  let restarts = 0
  bmc.when('PATCH', systemPath, { status: 204 })
  bmc.when('POST', /Reset$/, ({ body }) => {
    if ((body as { ResetType: string }).ResetType === 'On' && ++restarts === 1)
      boot(bmc)['BootSourceOverrideMode'] = 'UEFI'
    return undefined
  })
  await bench.management.setBootMode(bench.task, 'uefi')
  assert.equal(restarts, 1)
  assert.equal(bmc.resource(systemPath)['PowerState'], 'Off')
})

test('a BMC that neither tells nor takes a boot mode lets a deploy go on', async () => {
  await using bmc = await ScriptedBmc.start()
  delete boot(bmc)['BootSourceOverrideMode']
  bmc.when('PATCH', systemPath, error(400, 'PropertyUnknown', 'no'))
  await using bench = redfishBench(bmc)
  await assert.rejects(bench.management.setBootMode(bench.task, 'uefi'), UnsupportedDriverExtension)
})

test('secure boot is set once, needs UEFI, and is unsupported without its resource', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  assert.equal(await bench.management.getSecureBootState(bench.task), false)
  await bench.management.setSecureBootState(bench.task, true)
  await bench.management.setSecureBootState(bench.task, true)
  assert.deepEqual(bodies(bmc), [{ SecureBootEnable: true }])
  boot(bmc)['BootSourceOverrideMode'] = 'Legacy'
  await assert.rejects(bench.management.setSecureBootState(bench.task, false), /needs boot mode uefi/)
  delete bmc.resource(systemPath)['SecureBoot']
  await assert.rejects(bench.management.getSecureBootState(bench.task), UnsupportedDriverExtension)
})

test('media are listed, attached to the slot that takes them, and detached', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  await bench.management.attachVirtualMedia(bench.task, 'disk', 'http://x/disk.img')
  assert.deepEqual(await bench.management.getVirtualMedia(bench.task), [
    { media_types: ['CD', 'DVD'], inserted: false, image: null },
    { media_types: ['USBStick', 'Floppy'], inserted: true, image: 'http://x/disk.img' },
  ])
  await bench.management.attachVirtualMedia(bench.task, 'cdrom', 'http://x/cd.iso')
  await bench.management.detachVirtualMedia(bench.task, [])
  assert.equal(bmc.resource(`${mediaPath}/Usb`)['Inserted'], false)
  assert.equal(bmc.resource(`${mediaPath}/Cd`)['Inserted'], false)
  assert.deepEqual(bodies(bmc), [{ Image: 'http://x/disk.img' }, { Image: 'http://x/cd.iso' }, undefined, undefined])
})

test('indicators of system, chassis and disks', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  const uuid = '11111111-2222-3333-4444-555555555555'
  const all = await bench.management.supportedIndicators(bench.task, null)
  assert.deepEqual(Object.fromEntries(Object.entries(all).map(([name, lamps]) => [name, Object.keys(lamps)])), {
    chassis: ['c1'],
    system: [uuid],
    disk: ['1:d1'],
  })
  await bench.management.setIndicatorState(bench.task, 'disk', '1:d1', 'blinking')
  assert.equal(await bench.management.getIndicatorState(bench.task, 'disk', '1:d1'), 'blinking')
  assert.equal(await bench.management.getIndicatorState(bench.task, 'system', uuid), 'off')
  await assert.rejects(bench.management.getIndicatorState(bench.task, 'disk', 'nope'), MissingParameterValue)
})

test('sensors: a missing part is an empty one', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  const all = await bench.management.getSensorsData(bench.task)
  assert.deepEqual(Object.keys(all['Fan']), ['f1@1'])
  assert.equal(all['Temperature']['t1@1'].reading_celsius, 41)
  assert.equal(all['Power']['p1:Power@1'].power_capacity_watts, 750)
  assert.equal(all['Drive']['Drive 1:1@1'].capacity_bytes, 480103981056)
  delete bmc.resource('/redfish/v1/Chassis/1')['Thermal']
  bmc.when('GET', /Power$/, error(500, 'InternalError', 'no'))
  delete bmc.resource(systemPath)['Storage']
  assert.deepEqual(await bench.management.getSensorsData(bench.task), {
    Extra: { Manufacturer: 'Scripted', Model: 'S1', UUID: '11111111-2222-3333-4444-555555555555' },
    Fan: {},
    Temperature: {},
    Power: {},
    Drive: {},
  })
})

test('MACs of enabled interfaces only, and none is no error', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  assert.deepEqual(await bench.management.getMacAddresses(bench.task), ['52:54:00:aa:bb:01'])
  bmc.resource(`${systemPath}/EthernetInterfaces/1`)['MACAddress'] = ''
  assert.deepEqual(await bench.management.getMacAddresses(bench.task), [])
  delete bmc.resource(systemPath)['EthernetInterfaces']
  assert.deepEqual(await bench.management.getMacAddresses(bench.task), [])
})

test('the maker is named by the root, else by the system', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc)
  assert.equal(await bench.management.detectVendor(bench.task), 'Scripted')
  await using named = await ScriptedBmc.start({
    ...standardTree,
    '/redfish/v1': { ...standardTree['/redfish/v1'], Vendor: 'HPE' },
  })
  await using other = redfishBench(named)
  assert.equal(await other.management.detectVendor(other.task), 'HPE')
})

test('the BMC clock is set, without a fraction where it has none, and verified', async () => {
  await using bmc = await ScriptedBmc.start()
  await using bench = redfishBench(bmc, { config: { redfish: { enable_verify_bmc_clock: true } } })
  const step = (phase: string, name: string) =>
    bench.management.steps().find((each) => each.phase === phase && each.step === name)!
  bmc.resource('/redfish/v1/Managers/bmc')['DateTime'] = '2020-01-01T00:00:00+00:00'
  await step('verify', 'verify_bmc_clock').run(bench.task, {})
  assert.deepEqual(bodies(bmc), [{ DateTime: '2026-01-02T03:04:05+00:00' }])
  await step('verify', 'verify_bmc_clock').run(bench.task, {})
  assert.equal(bmc.changes().length, 1)
  await step('clean', 'set_bmc_clock').run(bench.task, {
    target_datetime: '2027-01-01T00:00:00Z',
    datetime_local_offset: '+02:00',
  })
  assert.deepEqual(bodies(bmc)[1], { DateTime: '2027-01-01T00:00:00+00:00', DateTimeLocalOffset: '+02:00' })
  bmc.when('PATCH', /Managers/, { status: 204 })
  await assert.rejects(step('verify', 'verify_bmc_clock').run(bench.task, {}), NodeVerifyFailure)
})
