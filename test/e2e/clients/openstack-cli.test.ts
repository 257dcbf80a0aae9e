/** The commands that an operator types, by the real client, on fake hardware. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServiceUnderTest } from '../service-under-test.ts'
import type { ServiceUnderTest } from '../service-under-test.ts'
import { startOpenstack } from './openstack.ts'
import type { Openstack } from './openstack.ts'

type Fields = Record<string, unknown>

describe('openstack baremetal', { timeout: 600_000 }, () => {
  const stack = new AsyncDisposableStack()
  let service: ServiceUnderTest
  let openstack: Openstack
  const ok = async (...args: string[]) => {
    const answer = await openstack.run(...args)
    assert.equal(answer.status, 0, `${args.join(' ')}: ${answer.err}`)
    return answer.out
  }
  const show = (...fields: string[]) =>
    openstack.json<Fields>('node', 'show', 'cli-1', ...(fields.length > 0 ? ['--fields', ...fields] : []))
  before(async () => {
    service = await startServiceUnderTest({ set: { 'DEFAULT.enabled_hardware_types': 'fake-hardware' } })
    stack.defer(() => service.close())
    openstack = await startOpenstack(service.api)
    stack.defer(() => openstack.close())
  })
  after(() => stack.disposeAsync())

  test('node create, list, show, set, unset', async () => {
    const created = await openstack.json<Fields>(
      'node',
      'create',
      '--driver',
      'fake-hardware',
      '--name',
      'cli-1',
      '--resource-class',
      'gold',
      '--property',
      'cpus=4',
      '--extra',
      'rack=a7',
      '--driver-info',
      'secret_password=xyzzy',
    )
    assert.equal(created['provision_state'], 'enroll')
    assert.deepEqual(created['driver_info'], { secret_password: '******' })
    const [listed, ...others] = await openstack.json<Fields[]>('node', 'list')
    assert.equal(others.length, 0)
    assert.deepEqual(
      [listed?.['name'], listed?.['provision_state'], listed?.['maintenance']],
      ['cli-1', 'enroll', false],
    )
    const [long] = await openstack.json<Fields[]>('node', 'list', '--long')
    assert.equal(long?.['driver'], 'fake-hardware')
    const [few] = await openstack.json<Fields[]>('node', 'list', '--fields', 'name', 'resource_class', 'properties')
    assert.deepEqual(few, { name: 'cli-1', resource_class: 'gold', properties: { cpus: 4 } })
    await ok(
      'node',
      'set',
      'cli-1',
      '--description',
      'the first',
      '--property',
      'memory_mb=8192',
      '--extra',
      'row=2',
      '--owner',
      'me',
    )
    assert.deepEqual(await show('description', 'properties', 'extra', 'owner'), {
      description: 'the first',
      properties: { cpus: 4, memory_mb: 8192 },
      extra: { rack: 'a7', row: 2 },
      owner: 'me',
    })
    await ok('node', 'unset', 'cli-1', '--property', 'cpus', '--extra', 'rack', '--description', '--owner')
    assert.deepEqual(await show('description', 'properties', 'extra', 'owner'), {
      description: null,
      properties: { memory_mb: 8192 },
      extra: { row: 2 },
      owner: null,
    })
    const missing = await openstack.run('node', 'show', 'nobody')
    assert.equal(missing.status, 1)
    assert.match(missing.err, /nobody/)
    const wrong = await openstack.run('node', 'create', '--driver', 'no-such-driver')
    assert.equal(wrong.status, 1)
    assert.match(wrong.err, /no-such-driver/)
  })

  test('port create, list, show, set, unset, delete', async () => {
    const node = await show('uuid')
    const port = await openstack.json<Fields>('port', 'create', '52:54:00:aa:bb:cc', '--node', String(node['uuid']))
    assert.equal(port['address'], '52:54:00:aa:bb:cc')
    const uuid = String(port['uuid'])
    const listed = await openstack.json<Fields[]>('port', 'list', '--node', 'cli-1')
    assert.deepEqual(listed, [{ uuid, address: '52:54:00:aa:bb:cc' }])
    await ok('port', 'set', uuid, '--extra', 'vlan=7')
    assert.deepEqual((await openstack.json<Fields>('port', 'show', uuid))['extra'], { vlan: 7 })
    await ok('port', 'unset', uuid, '--extra', 'vlan')
    const second = await openstack.run('port', 'create', '52:54:00:aa:bb:cc', '--node', String(node['uuid']))
    assert.equal(second.status, 1)
    assert.match(second.err, /52:54:00:aa:bb:cc/)
    await ok('port', 'delete', uuid)
    assert.deepEqual(await openstack.json<Fields[]>('port', 'list'), [])
  })

  test('manage, provide, inspect, deploy, undeploy, each with --wait', async () => {
    const state = async () => (await show('provision_state'))['provision_state']
    await ok('node', 'manage', 'cli-1', '--wait', '60')
    assert.equal(await state(), 'manageable')
    await ok('node', 'inspect', 'cli-1', '--wait', '60')
    await ok('node', 'provide', 'cli-1', '--wait', '60')
    assert.equal(await state(), 'available')
    await ok(
      'node',
      'set',
      'cli-1',
      '--instance-info',
      'image_source=http://192.0.2.1/image',
      '--instance-info',
      'image_checksum=d41d8cd98f00b204e9800998ecf8427e',
    )
    await ok('node', 'deploy', 'cli-1', '--wait', '60')
    assert.equal(await state(), 'active')
    const refused = await openstack.run('node', 'provide', 'cli-1')
    assert.equal(refused.status, 1)
    assert.match(refused.err, /provide/)
    await ok('node', 'undeploy', 'cli-1', '--wait', '60')
    assert.equal(await state(), 'available')
    assert.deepEqual((await show('instance_info'))['instance_info'], {})
  })

  test('validate, power, boot device, maintenance', async () => {
    const rows = await openstack.json<Fields[]>('node', 'validate', 'cli-1')
    const power = rows.find((row) => Object.values(row).includes('power'))
    assert.ok(power !== undefined && Object.values(power).includes(true), JSON.stringify(rows))
    await ok('node', 'power', 'on', 'cli-1', '--power-timeout', '30')
    for (let n = 0; n < 50 && (await show('power_state'))['power_state'] !== 'power on'; n++)
      await new Promise((go) => setTimeout(go, 100))
    assert.equal((await show('power_state'))['power_state'], 'power on')
    await ok('node', 'power', 'off', 'cli-1', '--soft', '--power-timeout', '30')
    await ok('node', 'boot', 'device', 'set', 'cli-1', 'pxe', '--persistent')
    assert.deepEqual(await openstack.json<Fields>('node', 'boot', 'device', 'show', 'cli-1'), {
      boot_device: 'pxe',
      persistent: false,
    })
    const supported = await openstack.json<Fields>('node', 'boot', 'device', 'show', 'cli-1', '--supported')
    assert.match(JSON.stringify(supported), /pxe/)
    await ok('node', 'maintenance', 'set', 'cli-1', '--reason', 'new disks')
    assert.deepEqual(await show('maintenance', 'maintenance_reason'), {
      maintenance: true,
      maintenance_reason: 'new disks',
    })
    await ok('node', 'maintenance', 'unset', 'cli-1')
    assert.deepEqual(await show('maintenance', 'maintenance_reason'), { maintenance: false, maintenance_reason: null })
  })

  test('drivers, conductors, and node delete', async () => {
    const drivers = await openstack.json<Fields[]>('driver', 'list')
    assert.deepEqual(drivers.map((driver) => driver['name']).sort(), ['fake-hardware'])
    const [conductor] = await openstack.json<Fields[]>('conductor', 'list')
    assert.equal(conductor?.['alive'], true)
    await ok('node', 'delete', 'cli-1')
    assert.deepEqual(await openstack.json<Fields[]>('node', 'list'), [])
  })
})
