/** Our service behind a real Keystone: logins of every kind, rights, outage. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { password, startRealKeystone, type RealKeystone } from '../peers/real-keystone.ts'
import { startFakeHardwareService, type FakeHardwareService } from './fake-hardware-service.ts'

const config = (keystone: RealKeystone, login: string) => `[DEFAULT]
auth_strategy = keystone
[keystone_authtoken]
${login}
auth_url = ${keystone.url}
www_authenticate_uri = ${keystone.url}
service_type = baremetal
http_request_max_retries = 0
token_cache_time = 2
`

const passwordLogin = `auth_type = password
username = ironic
password = ${password}
project_name = service
user_domain_id = default
project_domain_id = default`

interface Asked {
  readonly token?: string
  readonly serviceToken?: string
  readonly method?: string
  readonly body?: object
}

async function ask(
  service: FakeHardwareService,
  path: string,
  { token, serviceToken, method = 'GET', body }: Asked = {},
) {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      'x-openstack-ironic-api-version': '1.115',
      ...(token === undefined ? {} : { 'x-auth-token': token }),
      ...(serviceToken === undefined ? {} : { 'x-service-token': serviceToken }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

describe('behind a real Keystone', () => {
  let keystone: RealKeystone
  let service: FakeHardwareService
  before(async () => {
    keystone = await startRealKeystone()
    service = await startFakeHardwareService(config(keystone, passwordLogin))
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await keystone[Symbol.asyncDispose]()
  })
  const statusOf = async (token: string, path: string, more: Asked = {}) =>
    (await ask(service, path, { token, ...more })).status

  it('lets nobody in without a good token and says where to get one', async () => {
    assert.equal((await ask(service, '/v1')).status, 200)
    for (const asked of [{}, { token: 'nonsense' }, { token: 'gAAAAAB' + 'x'.repeat(150) }]) {
      const { status, headers, body } = await ask(service, '/v1/nodes', asked)
      assert.equal(status, 401)
      assert.equal(headers.get('www-authenticate'), `Keystone uri="${keystone.url}"`)
      assert.equal(body.error.code, 401)
    }
  })

  it('gives each scope and role its rights', async () => {
    const system = await keystone.token('system-admin', { system: true })
    const reader = await keystone.token('system-reader', { system: true })
    const member = await keystone.token('demo-member', { project: 'demo' })
    const other = await keystone.token('other-manager', { project: 'other' })
    const created = await ask(service, '/v1/nodes', {
      token: system,
      method: 'POST',
      body: { driver: 'fake-hardware', name: 'n', owner: keystone.projects['demo'] },
    })
    assert.equal(created.status, 201)
    assert.equal(await statusOf(reader, '/v1/nodes', { method: 'POST', body: { driver: 'fake-hardware' } }), 403)
    assert.deepEqual(
      await Promise.all([system, reader, member, other].map((token) => statusOf(token, '/v1/nodes/n'))),
      [200, 200, 200, 404],
    )
    assert.equal((await ask(service, '/v1/nodes', { token: other })).body.nodes.length, 0)
    assert.equal(await statusOf(member, '/v1/chassis'), 403)
    const unscoped = await keystone.token('demo-member', 'unscoped')
    assert.equal(await statusOf(unscoped, '/v1/nodes'), 403)
  })

  it('forgets a revoked token after token_cache_time', async () => {
    const token = await keystone.token('demo-reader', { project: 'demo' })
    assert.equal(await statusOf(token, '/v1/nodes'), 200)
    await keystone.revoke(token)
    assert.equal(await statusOf(token, '/v1/nodes'), 200)
    await new Promise((resolve) => setTimeout(resolve, 2100))
    assert.equal(await statusOf(token, '/v1/nodes'), 401)
  })

  it('takes a service token of a service, no other, and it adds no right', async () => {
    const token = await keystone.token('demo-reader', { project: 'demo' })
    const serviceToken = await keystone.token('nova', { project: 'service' })
    const noService = await keystone.token('demo-member', { project: 'demo' })
    assert.equal(await statusOf(token, '/v1/nodes', { serviceToken }), 200)
    assert.equal(await statusOf(token, '/v1/nodes', { serviceToken: noService }), 401)
    const body = [{ op: 'add', path: '/extra/x', value: 1 }]
    assert.equal(await statusOf(token, '/v1/nodes/n', { serviceToken, method: 'PATCH', body }), 403)
  })

  it('holds an application credential to its access rules', async () => {
    const rules = [{ service: 'baremetal', method: 'GET', path: '/v1/nodes/*' }]
    const credential = await keystone.applicationCredential('demo-member', 'demo', { access_rules: rules })
    const identity = { methods: ['application_credential'], application_credential: credential }
    const response = await fetch(`${keystone.url}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth: { identity } }),
    })
    const token = response.headers.get('x-subject-token') ?? ''
    assert.equal(await statusOf(token, '/v1/nodes/n'), 200)
    assert.equal(await statusOf(token, '/v1/nodes'), 401)
    assert.equal(await statusOf(token, '/v1/nodes/n', { method: 'PATCH', body: [] }), 401)
  })

  it('logs in with an application credential too', async () => {
    const { id, secret } = await keystone.applicationCredential('ironic', 'service')
    const login = `auth_type = v3applicationcredential\napplication_credential_id = ${id}\napplication_credential_secret = ${secret}`
    await using second = await startFakeHardwareService(config(keystone, login))
    const token = await keystone.token('demo-reader', { project: 'demo' })
    assert.equal((await ask(second, '/v1/nodes', { token })).status, 200)
  })

  it('answers 503 while Keystone is away, and goes on when it is back', async () => {
    const token = await keystone.token('system-reader', { system: true })
    await keystone.stop()
    assert.equal(await statusOf(token, '/v1/nodes'), 503)
    assert.equal((await ask(service, '/v1')).status, 200)
    await keystone.start()
    assert.equal(await statusOf(token, '/v1/nodes'), 200)
  })
})
