import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testConfig } from '../../config/for-tests.ts'
import type { Config } from '../../config/index.ts'
import { ConfigInvalid } from '../../errors/general.ts'
import { startKeystone, tokenBody, type TestKeystone } from '../../../test/peers/keystone.ts'
import { silentLogger } from '../../lib/oslo-log/logger.ts'
import { accessRulesAllow } from './access-rules.ts'
import type { Authenticator, Verdict } from './authenticator.ts'
import { keystone } from './keystone.ts'

const domain = { id: 'default', name: 'Default' }
const asked = { method: 'GET', path: '/v1/nodes' }
const role = (name: string) => ({ id: `${name}-id`, name })

const opened = (
  peer: TestKeystone,
  more: Partial<Config['keystone_authtoken']> = {},
  now?: () => number,
): Promise<Authenticator> =>
  keystone(
    testConfig({
      keystone_authtoken: {
        auth_type: 'password',
        auth_url: peer.url,
        username: 'ironic',
        password: 'secret',
        user_domain_id: 'default',
        www_authenticate_uri: 'http://keystone.example/v3',
        http_request_max_retries: 0,
        ...more,
      },
    }),
    silentLogger,
    now,
  )
const statusOf = (verdict: Verdict) => ('refusal' in verdict ? verdict.refusal.status : 200)

test('the identity is what the token says, not what headers claim', async () => {
  await using peer = await startKeystone()
  peer.tokens.set(
    'user',
    tokenBody({
      project: { id: 'p', name: 'demo', domain },
      roles: [role('member'), role('reader')],
      is_admin_project: false,
    }),
  )
  const authenticator = await opened(peer)
  const verdict = await authenticator.identify(
    { 'x-auth-token': ' user ', 'x-roles': 'admin', 'openstack-system-scope': 'all' },
    asked,
  )
  assert.deepEqual(verdict, {
    identity: {
      user_id: 'someone-id',
      user_name: 'someone',
      user_domain_id: 'default',
      project_id: 'p',
      project_name: 'demo',
      project_domain_id: 'default',
      domain_id: null,
      system_scope: null,
      roles: ['member', 'reader'],
      is_admin_project: false,
      auth_token: 'user',
    },
  })
  await authenticator.close()
})

test('a request without a good token is pointed to Keystone', async () => {
  await using peer = await startKeystone()
  const authenticator = await opened(peer)
  for (const headers of [{}, { 'x-auth-token': '' }, { 'x-auth-token': 'unknown' }]) {
    const verdict = await authenticator.identify(headers, asked)
    assert.deepEqual(verdict, {
      refusal: {
        status: 401,
        headers: { 'www-authenticate': 'Keystone uri="http://keystone.example/v3"' },
        body: {
          error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
        },
      },
    })
  }
  await authenticator.close()
})

test('a token is asked for once in token_cache_time, also when many requests bring it at once, and never after its end', async () => {
  await using peer = await startKeystone()
  let now = Date.now()
  peer.tokens.set('user', tokenBody({ expires_at: new Date(now + 3_600_000).toISOString() }))
  const authenticator = await opened(peer, { token_cache_time: 300 }, () => now)
  const checks = () => peer.requests.filter((request) => request.startsWith('GET /v3/auth/tokens')).length
  const ask = async () => statusOf(await authenticator.identify({ 'x-auth-token': 'user' }, asked))
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [200, 200, 200])
  assert.equal(checks(), 1)
  now += 301_000
  assert.equal(await ask(), 200)
  assert.equal(checks(), 2)
  now += 3_600_000
  assert.equal(await ask(), 401)
  await authenticator.close()
})

test('an outage of Keystone is a 503, and tokens that are remembered go on', async () => {
  await using peer = await startKeystone()
  peer.tokens.set('user', tokenBody())
  const authenticator = await opened(peer)
  const ask = async (token: string) => statusOf(await authenticator.identify({ 'x-auth-token': token }, asked))
  assert.equal(await ask('user'), 200)
  peer.failWith = 500
  assert.equal(await ask('user'), 200)
  assert.equal(await ask('other'), 503)
  await authenticator.close()
})

test('a service token extends a token that has ended, adds no scope, and spoils the request when it is bad', async () => {
  await using peer = await startKeystone()
  const ended = new Date(Date.now() - 1000).toISOString()
  peer.tokens.set('user', tokenBody({ expires_at: ended, project: { id: 'p', name: 'demo', domain } }))
  peer.tokens.set('service', tokenBody({ system: { all: true }, roles: [role('service')] }))
  peer.tokens.set('plain', tokenBody({ roles: [role('member')] }))
  const authenticator = await opened(peer)
  const ask = (service?: string) =>
    authenticator.identify(
      { 'x-auth-token': 'user', ...(service === undefined ? {} : { 'x-service-token': service }) },
      asked,
    )
  const verdict = await ask('service')
  const identity = 'identity' in verdict ? verdict.identity : assert.fail('was refused')
  assert.deepEqual(
    [identity.system_scope, identity.project_id, identity.roles, identity.service_roles],
    [null, 'p', [], ['service']],
  )
  assert.deepEqual(
    await Promise.all([ask(), ask('plain'), ask('unknown')].map(async (one) => statusOf(await one))),
    [401, 401, 401],
  )
  await authenticator.close()
})

test('a bound token is refused, and so is any where a bind is demanded', async () => {
  await using peer = await startKeystone()
  peer.tokens.set('bound', tokenBody({ bind: { kerberos: 'user' } }))
  peer.tokens.set('free', tokenBody())
  const expected = { disabled: [200, 200], permissive: [401, 200], strict: [401, 200], required: [401, 401] }
  for (const [enforce_token_bind, statuses] of Object.entries(expected)) {
    const authenticator = await opened(peer, { enforce_token_bind })
    const verdicts = await Promise.all(
      ['bound', 'free'].map(async (token) => await authenticator.identify({ 'x-auth-token': token }, asked)),
    )
    assert.deepEqual(verdicts.map(statusOf), statuses, enforce_token_bind)
    await authenticator.close()
  }
})

test('a delayed decision lets everybody in as nobody', async () => {
  await using peer = await startKeystone()
  const authenticator = await opened(peer, { delay_auth_decision: true })
  assert.deepEqual(await authenticator.identify({ 'x-auth-token': 'unknown' }, asked), {
    identity: { roles: [], is_admin_project: true },
  })
  await authenticator.close()
})

test('an incomplete login stops the start and names the option', async () => {
  await using peer = await startKeystone()
  await assert.rejects(opened(peer, { auth_url: null }), /auth_url is missing/)
  await assert.rejects(opened(peer, { password: null }), ConfigInvalid)
  await assert.rejects(opened(peer, { auth_section: 'nowhere' }), /"nowhere"/)
  await assert.rejects(opened(peer, { cafile: '/dev/null/ca.pem' }), ConfigInvalid)
})

test('restricted application credentials may only do what their rules say', () => {
  const rules = [
    { service: 'baremetal', method: 'GET', path: '/v1/nodes/*' },
    { service: 'baremetal', method: 'PUT', path: '/v1/nodes/{node}/states/**' },
  ]
  const allowed = (method: string, path: string, type: string | null = 'baremetal', onBehalf = false) =>
    accessRulesAllow(rules, ['baremetal'], type, { method, path }, onBehalf)
  assert.equal(allowed('GET', '/v1/nodes/a'), true)
  assert.equal(allowed('PUT', '/v1/nodes/a/states/power'), true)
  assert.equal(allowed('PUT', '/v1/nodes/a/b/states/power'), false)
  assert.equal(allowed('GET', '/v1/nodes/a/states'), false)
  assert.equal(allowed('GET', '/v1/nodes/'), false)
  assert.equal(allowed('DELETE', '/v1/nodes/a'), false)
  assert.equal(allowed('GET', '/v1/nodes/a', null), false)
  assert.equal(allowed('DELETE', '/v1/nodes/a', 'baremetal', true), true)
  const nasty = [{ service: 'baremetal', method: 'GET', path: '**a'.repeat(40) }]
  assert.equal(
    accessRulesAllow(nasty, ['baremetal'], 'baremetal', { method: 'GET', path: 'a'.repeat(2000) + 'b' }, false),
    false,
  )
})
