import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nearest } from './nearest.ts'

it('finds what was meant', () => {
  const names = ['port', 'host_ip', 'max_limit', 'enabled_hardware_types', 'endpoint_override']
  assert.equal(nearest('prot', names), 'port')
  assert.equal(nearest('hostip', names), 'host_ip')
  assert.equal(nearest('Max-Limit', names), 'max_limit')
  assert.equal(nearest('endpoint-override', names), 'endpoint_override')
  assert.equal(nearest('enable_hardware_type', names), 'enabled_hardware_types')
  assert.equal(nearest('qqqqqqqqqqqqqqq', names), undefined)
})
