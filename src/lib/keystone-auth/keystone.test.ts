import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Keystone, KeystoneUnavailable, UnknownToken } from './keystone.ts'
import { startKeystone, tokenBody } from '../../../test/peers/keystone.ts'
import { IncompleteLogin, loginBody, type LoginOptions } from './login.ts'
import { endpointIn, MalformedToken, readToken } from './token.ts'

const login = (auth_url: string, more: Partial<LoginOptions> = {}): LoginOptions => ({
  auth_type: 'password',
  auth_url,
  username: 'ironic',
  password: 'secret',
  user_domain_name: 'Default',
  project_name: 'service',
  project_domain_name: 'Default',
  ...more,
})
const client = (auth_url: string, more: Partial<ConstructorParameters<typeof Keystone>[0]> = {}) =>
  new Keystone({ login: login(auth_url), timeout: 2000, connectRetries: 0, retryDelay: 1, ...more })

test('a login names user and scope as Keystone wants them', () => {
  const user = { name: 'ironic', domain: { name: 'Default' }, password: 'secret' }
  const identity = { methods: ['password'], password: { user } }
  const project = { name: 'service', domain: { name: 'Default' } }
  assert.deepEqual(loginBody(login('x')), { auth: { identity, scope: { project } } })
  assert.deepEqual(loginBody(login('x', { auth_type: 'v3password', system_scope: 'all' })), {
    auth: { identity, scope: { system: { all: true } } },
  })
  assert.deepEqual(
    loginBody({
      auth_type: 'v3applicationcredential',
      auth_url: 'x',
      application_credential_id: 'id',
      application_credential_secret: 'hush',
    }),
    {
      auth: { identity: { methods: ['application_credential'], application_credential: { id: 'id', secret: 'hush' } } },
    },
  )
  assert.throws(() => loginBody(login('x', { password: null })), IncompleteLogin)
  assert.throws(() => loginBody(login('x', { auth_type: 'v3kerberos' })), /v3kerberos is not supported/)
})

test('tokens are checked as the service user, whose login is kept', async () => {
  await using peer = await startKeystone()
  peer.tokens.set('good', tokenBody({ roles: [{ id: 'r', name: 'reader' }], system: { all: true } }))
  const keystone = client(peer.url)
  const info = await keystone.validate('good')
  assert.deepEqual([info.roles, info.system, info.user.name], [['reader'], true, 'someone'])
  await assert.rejects(keystone.validate('bad'), UnknownToken)
  await assert.rejects(keystone.validate('line\nbreak'), UnknownToken)
  assert.equal(peer.logins.length, 1)
  assert.equal(await keystone.token(), 'own-1')
  assert.equal(await keystone.endpoint({ type: 'identity', interfaces: ['public', 'internalURL'] }), peer.url)
  await keystone.close()
})

test('a revoked or ended login is renewed, once for all who wait', async () => {
  await using peer = await startKeystone()
  peer.tokens.set('good', tokenBody())
  let now = Date.now()
  const keystone = client(peer.url, { now: () => now })
  await keystone.validate('good')
  peer.revokeLogins()
  await Promise.all([1, 2, 3].map(() => keystone.validate('good')))
  assert.equal(peer.logins.length, 2)
  now += 86_400_000 - 20_000
  await keystone.token()
  assert.equal(peer.logins.length, 3)
  await keystone.close()
})

test('the version is discovered where auth_url names none', async () => {
  await using peer = await startKeystone()
  peer.tokens.set('good', tokenBody())
  const keystone = client(peer.url.replace('/v3', ''))
  await keystone.validate('good')
  assert.equal(peer.requests[0], 'GET /')
  await keystone.close()
})

test('an outage is no fault of the caller', async () => {
  const peer = await startKeystone()
  const keystone = client(peer.url, { connectRetries: 2 })
  peer.failWith = 500
  await assert.rejects(keystone.validate('good'), KeystoneUnavailable)
  peer.failWith = 401
  await assert.rejects(keystone.validate('good'), KeystoneUnavailable)
  await peer[Symbol.asyncDispose]()
  await assert.rejects(keystone.validate('good'), (error: Error) => {
    assert.ok(error instanceof KeystoneUnavailable)
    assert.ok(error.cause instanceof Error)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })
  await keystone.close()
})

test('what is no token is said to be none', () => {
  for (const body of [undefined, {}, { token: {} }, { token: tokenBody({ expires_at: 'soon' }) }]) {
    assert.throws(() => readToken(body), MalformedToken)
  }
  const { isAdminProject, accessRules } = readToken({
    token: tokenBody({ is_admin_project: false, application_credential: { access_rules: [] } }),
  })
  assert.deepEqual([isAdminProject, accessRules], [false, []])
})

test('an endpoint is found by type, region and the order of interfaces', () => {
  const endpoints = [
    { interface: 'public', region_id: 'one', url: 'http://public' },
    { interface: 'internal', region_id: 'two', url: 'http://internal' },
  ]
  const info = readToken({ token: tokenBody({ catalog: [{ type: 'image', name: 'glance', endpoints }] }) })
  assert.equal(endpointIn(info, { type: 'image', interfaces: ['internal', 'public'] }), 'http://internal')
  assert.equal(endpointIn(info, { type: 'image', interfaces: ['internal', 'public'], region: 'one' }), 'http://public')
  assert.equal(endpointIn(info, { type: 'network', interfaces: ['public'] }), undefined)
})
