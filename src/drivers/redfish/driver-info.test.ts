import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { type ConfigOverrides, testConfig } from '../../config/for-tests.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import type { Node } from '../../objects/index.ts'
import { parseDriverInfo } from './driver-info.ts'

const parse = (info: Record<string, unknown>, config: ConfigOverrides = {}) =>
  parseDriverInfo({ uuid: 'n1', driver: 'redfish', driver_info: info } as unknown as Node, testConfig(config))
const at = (redfish_address: unknown, more: Record<string, unknown> = {}) => ({ redfish_address, ...more })

test('an address is read in all forms that real Ironic takes', () => {
  const forms: [string, string, string][] = [
    ['https://bmc.example.com', 'https://bmc.example.com', ''],
    ['bmc.example.com', 'https://bmc.example.com', ''],
    ['bmc.example.com:8443', 'https://bmc.example.com:8443', ''],
    ['http://192.0.2.1:8000/redfish/v1/', 'http://192.0.2.1:8000', '/redfish/v1/'],
    ['192.0.2.1/prefix', 'https://192.0.2.1', '/prefix'],
    ['2001:db8::1', 'https://[2001:db8::1]', ''],
    ['https://[2001:db8::1]:444/', 'https://[2001:db8::1]:444', '/'],
    ['HTTPS://BMC.example.com', 'https://bmc.example.com', ''],
  ]
  for (const [given, address, rootPrefix] of forms) {
    const info = parse(at(given))
    assert.deepEqual([info.address, info.rootPrefix], [address, rootPrefix], given)
  }
})

test('what is no address is refused, and a missing one is told', () => {
  for (const bad of [
    'https://',
    'ftp://bmc',
    'https://user:pw@bmc',
    'https://bm c',
    'https://bmc/pa th',
    'https://bmc:99999',
    42,
    ['x'],
    { a: 1 },
  ])
    assert.throws(() => parse(at(bad)), InvalidParameterValue, JSON.stringify(bad))
  for (const missing of [undefined, null, '']) assert.throws(() => parse(at(missing)), MissingParameterValue)
})

test('the path of the system is percent-encoded as it is sent', () => {
  assert.equal(parse(at('bmc', { redfish_system_id: '/redfish/v1/Systems/1' })).systemId, '/redfish/v1/Systems/1')
  assert.equal(
    parse(at('bmc', { redfish_system_id: "/Systems/a b'(c)*%20ü" })).systemId,
    '/Systems/a%20b%27%28c%29%2A%2520%C3%BC',
  )
  assert.equal(parse(at('bmc')).systemId, null)
  for (const bad of [1, [], {}])
    assert.throws(() => parse(at('bmc', { redfish_system_id: bad })), InvalidParameterValue)
})

test('verify_ca is a yes, a no, or a path; the configured one stands in for yes', () => {
  const verify = (value: unknown, config?: ConfigOverrides) =>
    parse(at('bmc', { redfish_verify_ca: value }), config).verifyCa
  assert.equal(parse(at('bmc')).verifyCa, true)
  assert.equal(verify('False'), false)
  assert.equal(verify('0'), false)
  assert.equal(verify(' yes '), true)
  assert.equal(verify(false, { redfish: { verify_ca: tmpdir() } }), false)
  assert.equal(verify(true, { redfish: { verify_ca: tmpdir() } }), tmpdir())
  assert.equal(parse(at('bmc'), { redfish: { verify_ca: 'false' } }).verifyCa, false)
  assert.equal(verify(tmpdir()), tmpdir())
  for (const bad of ['/no/such/file', 'maybe', 3.5, [], {}])
    assert.throws(() => verify(bad), InvalidParameterValue, JSON.stringify(bad))
})

test('authentication and TLS settings are checked, with the configuration behind them', () => {
  assert.equal(parse(at('bmc')).authType, 'auto')
  assert.equal(parse(at('bmc', { redfish_auth_type: 'basic' })).authType, 'basic')
  assert.equal(parse(at('bmc'), { redfish: { auth_type: 'session' } }).authType, 'session')
  for (const bad of ['BASIC', null, 1])
    assert.throws(() => parse(at('bmc', { redfish_auth_type: bad })), InvalidParameterValue)
  assert.equal(parse(at('bmc'), { redfish: { tls_minimum_version: '1.3' } }).tlsMinimumVersion, '1.3')
  assert.equal(parse(at('bmc', { redfish_tls_minimum_version: '1.2' })).tlsMinimumVersion, '1.2')
  assert.throws(() => parse(at('bmc', { redfish_tls_minimum_version: '1.0' })), InvalidParameterValue)
  assert.equal(parse(at('bmc', { redfish_tls_ciphers: 'HIGH' })).tlsCiphers, 'HIGH')
})
