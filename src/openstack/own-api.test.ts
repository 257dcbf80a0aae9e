import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { type ConfigOverrides, testConfig } from '../config/for-tests.ts'
import { OwnApi } from './own-api.ts'

const urlOf = async (t: TestContext, overrides: ConfigOverrides) => {
  const api = new OwnApi(testConfig(overrides))
  t.after(() => api.close())
  return await api.url()
}

test('agents are told the URL that is configured', async (t) => {
  const overrides = { service_catalog: { endpoint_override: 'http://api:6385//' } }
  assert.equal(await urlOf(t, overrides), 'http://api:6385')
})

test('without a URL and a catalog nothing is booted', async (t) => {
  await assert.rejects(urlOf(t, { DEFAULT: { auth_strategy: 'noauth' } }), /endpoint_override/)
  await assert.rejects(urlOf(t, {}), { name: 'InvalidParameterValue' })
})

test('agents are told the URL that the catalog has', async (t) => {
  const answer = {
    token: {
      methods: ['password'],
      expires_at: '2099-01-01T00:00:00.000000Z',
      user: { id: 'u', name: 'ironic', domain: { id: 'default', name: 'Default' } },
      project: { id: 'p', name: 'service', domain: { id: 'default', name: 'Default' } },
      roles: [{ id: 'r', name: 'service' }],
      catalog: [
        {
          type: 'baremetal',
          name: 'ironic',
          endpoints: [
            { interface: 'public', url: 'https://public/baremetal/', region: 'one' },
            { interface: 'internal', url: 'https://internal/baremetal/', region: 'one' },
          ],
        },
      ],
    },
  }
  let status = 201
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-subject-token': 'token' })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const service_catalog = {
    auth_type: 'password',
    auth_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`,
    username: 'ironic',
    password: 'x',
    project_name: 'service',
    user_domain_name: 'Default',
    project_domain_name: 'Default',
  }
  assert.equal(await urlOf(t, { service_catalog }), 'https://internal/baremetal')
  const publicOnly = { ...service_catalog, valid_interfaces: ['public'] }
  assert.equal(await urlOf(t, { service_catalog: publicOnly }), 'https://public/baremetal')
  const elsewhere = { ...service_catalog, region_name: 'two' }
  await assert.rejects(urlOf(t, { service_catalog: elsewhere }), /no baremetal endpoint/)
  status = 401
  await assert.rejects(urlOf(t, { service_catalog }), { name: 'InvalidParameterValue' })
})
