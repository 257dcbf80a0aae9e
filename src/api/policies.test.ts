import assert from 'node:assert/strict'
import { test } from 'node:test'
import facts from '../../test/facts/policy.json' with { type: 'json' }
import { policies } from './policies.ts'

interface Fact {
  readonly name: string
  readonly check: string
  readonly scope_types?: readonly string[]
  readonly operations: readonly { path: string; methods: readonly string[] }[]
  readonly deprecated_rule?: { name: string; check: string }
}

test('the rules are those of Ironic 2026.2, in its order', () => {
  const expected = (facts.rules as readonly Fact[]).map((rule) => ({
    name: rule.name,
    check: rule.check,
    scope_types: rule.scope_types ?? null,
    operations: rule.operations.flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`)),
    deprecated_rule: rule.deprecated_rule
      ? { name: rule.deprecated_rule.name, check: rule.deprecated_rule.check }
      : null,
  }))
  const ours = policies.map(({ name, check, scope_types, operations, deprecated_rule }) => ({
    name,
    check,
    scope_types: scope_types ?? null,
    operations: [...operations],
    deprecated_rule: deprecated_rule ?? null,
  }))
  assert.deepEqual(ours, expected)
})
