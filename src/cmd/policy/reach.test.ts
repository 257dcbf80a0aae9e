import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policies } from '../../api/policies.ts'
import { PolicyAuthorizer } from '../../api/policy-authorizer.ts'
import { testConfig } from '../../config/for-tests.ts'
import { silentLogger } from '../../lib/oslo-log/logger.ts'
import { parsePolicy } from '../../lib/oslo-policy/policy-files.ts'
import { reach, reachTable } from './reach.ts'
import { samplePolicy } from './sample.ts'

const policy = () =>
  PolicyAuthorizer.open({
    config: testConfig({ DEFAULT: { auth_strategy: 'keystone' } }),
    log: silentLogger,
    find: () => undefined,
  })

test('each role reaches what the rule says, on its own, leased or all things', async () => {
  const authorizer = policy()
  const ask = (rule: string) => reach((...asked) => authorizer.check(...asked), rule)
  const get = ask('baremetal:node:get')
  assert.deepEqual([get.system.reader, get.project.reader, get.project.service], ['all', 'own+leased', 'own'])
  const owner = ask('baremetal:node:delete:self_owned_node')
  assert.deepEqual([owner.project.admin, owner.project.manager], ['own', '-'])
  assert.equal(ask('baremetal:chassis:get').project.admin, '-')
  assert.equal(ask('baremetal:allocation:get').project.reader, 'own')
  assert.equal(ask('baremetal:node:list').project.reader, 'all')
})

test('the table has a line for each rule', async () => {
  const authorizer = policy()
  const rows = policies.map(({ name }) => reach((...asked) => authorizer.check(...asked), name))
  const lines = reachTable(rows).split('\n')
  assert.equal(lines.length, policies.length + 2)
  assert.match(lines[1] ?? '', /^rule +admin +manager +member +reader +service +admin/)
})

test('the sample file changes nothing until a # is taken away, and then holds the default', () => {
  const sample = samplePolicy(policies)
  assert.equal(parsePolicy(sample, 'sample').size, 0)
  const open = sample.replaceAll(/^#"/gm, '"')
  assert.equal(parsePolicy(open, 'sample').size, policies.length)
})
