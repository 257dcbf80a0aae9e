import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import vectors from '../../test/vectors/oslo-policy.json' with { type: 'json' }
import { testConfig, type ConfigOverrides } from '../config/for-tests.ts'
import type { RequestContext } from '../domain/context.ts'
import { HTTPForbidden } from '../errors/base.ts'
import { ConfigInvalid } from '../errors/general.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import { policyCredentials } from './auth/credentials.ts'
import { PolicyAuthorizer } from './policy-authorizer.ts'

const context = (more: Partial<RequestContext>): RequestContext => ({ request_id: 'req-1', ...more })
const admin = context({ system_scope: 'all', roles: ['admin', 'manager', 'member', 'reader'] })
const owner = context({ project_id: 'a', roles: ['member', 'reader'] })
const ownNode = { 'node.owner': 'a' }

const opened = (overrides: ConfigOverrides = {}, path?: string) =>
  PolicyAuthorizer.open({
    config: testConfig({ DEFAULT: { auth_strategy: 'keystone' }, ...overrides }),
    log: silentLogger,
    find: (name) => (name === 'policy.yaml' ? path : undefined),
  })

test('the credentials are what real Ironic gives to its checks', () => {
  const cases = vectors as unknown as {
    in: { fn?: string; context: Partial<RequestContext>; rbac_service_role_elevated_access: boolean }
    out: unknown
  }[]
  const questions = cases.filter(({ in: question }) => question.fn === 'policy_values')
  assert.ok(questions.length > 0)
  for (const { in: question, out } of questions) {
    const { rbac_service_role_elevated_access } = question
    const { DEFAULT } = testConfig({ DEFAULT: { rbac_service_role_elevated_access } })
    assert.deepEqual(policyCredentials(context(question.context), DEFAULT), out)
  }
})

test('with Keystone the rules decide; a token of the wrong scope is refused like any other', async () => {
  const policy = opened()
  policy.authorize(admin, 'baremetal:chassis:create')
  policy.authorize(owner, 'baremetal:node:get', ownNode)
  assert.throws(() => policy.authorize(owner, 'baremetal:node:get', { 'node.owner': 'b' }), HTTPForbidden)
  assert.throws(() => policy.authorize(owner, 'baremetal:chassis:get'), HTTPForbidden)
  assert.equal(policy.allows(owner, 'baremetal:chassis:get'), false)
  assert.throws(() => policy.authorize(admin, 'baremetal:nothing'), /not registered/)
})

test('without Keystone everything is allowed, but secrets stay hidden', async () => {
  const policy = opened({ DEFAULT: { auth_strategy: 'noauth' } })
  policy.authorize(context({}), 'baremetal:chassis:create')
  assert.equal(policy.allows(context({}), 'baremetal:chassis:create'), true)
  assert.equal(policy.check(admin, 'show_password'), false)
})

test('a policy file is taken over when it changes; a broken one changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'authorizer-'))
  try {
    const path = join(folder, 'policy.yaml')
    const policy = opened({}, path)
    const step = 'baremetal:step:execute:deploy.erase_devices'
    assert.equal(policy.knows(step), false)
    await writeFile(
      path,
      `"baremetal:chassis:create": "!"
"show_password": "role:admin"
"baremetal:step:execute:deploy.erase_devices": "role:admin"
"baremetal:node:get": "http://example.invalid/"`,
    )
    policy.refresh()
    assert.throws(() => policy.authorize(admin, 'baremetal:chassis:create'), HTTPForbidden)
    assert.equal(policy.check(admin, 'show_password'), true)
    assert.equal(policy.knows(step), true)
    assert.throws(() => policy.authorize(owner, step, ownNode), HTTPForbidden)
    policy.authorize(admin, step, ownNode)
    assert.throws(() => policy.authorize(admin, 'baremetal:node:get', ownNode), HTTPForbidden)
    assert.equal(policy.check(admin, 'baremetal:node:get', ownNode), false)
    await writeFile(path, '- broken')
    policy.refresh()
    assert.throws(() => policy.authorize(admin, 'baremetal:chassis:create'), HTTPForbidden)
    assert.throws(() => opened({}, path), ConfigInvalid)
  } finally {
    await rm(folder, { recursive: true })
  }
})
