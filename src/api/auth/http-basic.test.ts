import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigInvalid } from '../../errors/general.ts'
import { silentLogger } from '../../lib/oslo-log/logger.ts'
import type { Verdict } from './authenticator.ts'
import { httpBasic } from './http-basic.ts'
import { noauth } from './noauth.ts'
import { isPublicRoute } from './public-routes.ts'

const asked = { method: 'GET', path: '/v1/nodes' }
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
const refused = (verdict: Verdict) => ('refusal' in verdict ? verdict.refusal : assert.fail('was let in'))

test('logins are answered in the shape of the middleware of real Ironic', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'http-basic-'))
  try {
    const path = join(folder, 'users')
    await writeFile(path, 'alice:$2b$04$abcdefghijklmnopqrstuuN2f4ZDSoR8/TAG80qUYDM9bRnmRm0Zy\n')
    const authenticator = await httpBasic(path, silentLogger)
    const verdict = await authenticator.identify(basic('alice:myPassword'), asked)
    assert.deepEqual(verdict, {
      identity: { user_id: 'alice', user_name: 'alice', roles: [], is_admin_project: true },
    })
    for (const headers of [{}, basic('alice:wrong'), basic('bob:myPassword')]) {
      const refusal = refused(await authenticator.identify({ ...headers, 'x-user-id': 'alice' }, asked))
      assert.equal(refusal.status, 401)
      assert.equal(refusal.headers['www-authenticate'], 'Basic realm="Baremetal API"')
      assert.equal((refusal.body as { error: { code: number } }).error.code, 401)
    }
    for (const headers of [{ authorization: 'Bearer abc' }, { authorization: 'Basic !!!' }, basic('alice')]) {
      const refusal = refused(await authenticator.identify(headers, asked))
      assert.equal(refusal.status, 400)
      assert.equal(refusal.headers['www-authenticate'], undefined)
    }
    await rm(path)
    assert.equal(refused(await authenticator.identify(basic('alice:myPassword'), asked)).status, 500)
    await assert.rejects(httpBasic(path, silentLogger), ConfigInvalid)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('without authentication the headers name the caller, and no token is taken along', async () => {
  assert.deepEqual(
    await noauth.identify(
      { 'x-user-id': 'u', 'x-project-id': 'p', 'x-roles': 'a, b', 'x-auth-token': 'secret' },
      asked,
    ),
    { identity: { user_id: 'u', project_id: 'p', roles: ['a', 'b'], is_admin_project: true } },
  )
})

test('discovery and the calls of the ramdisk are public, nothing beside them', () => {
  const open = [
    '/',
    '/v1',
    '/v1/',
    '/v1.json',
    '/v1/lookup',
    '/v1/lookup.json',
    '/v1/heartbeat/a1-b2',
    '/v1/continue_inspection/',
  ]
  const closed = [
    '//',
    '/v1/nodes',
    '/v1/heartbeat',
    '/v1/heartbeat/A',
    '/v1/heartbeat/a/b',
    '/v1/lookup/x',
    '/v1/lookups',
    '/v2',
  ]
  assert.deepEqual(
    open.filter((path) => !isPublicRoute(path)),
    [],
  )
  assert.deepEqual(
    closed.filter((path) => isPublicRoute(path)),
    [],
  )
})
