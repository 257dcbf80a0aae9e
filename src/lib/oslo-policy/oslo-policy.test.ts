import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import facts from '../../../test/facts/policy.json' with { type: 'json' }
import vectors from '../../../test/vectors/oslo-policy.json' with { type: 'json' }
import random from '../../../test/vectors/oslo-policy-random.json' with { type: 'json' }
import { Enforcer, InvalidScope, PolicyNotAuthorized, PolicyNotRegistered } from './enforcer.ts'
import { parsePolicy, PolicyFileError, PolicyFiles } from './policy-files.ts'
import { ruleProblems, type RuleDefault } from './rules.ts'

type Values = Record<string, unknown>
interface Question {
  readonly fn?: string
  readonly ironic?: boolean
  readonly persona?: string
  readonly file?: Values
  readonly file_text?: string
  readonly dirs?: readonly { readonly files: Record<string, string> }[]
  readonly defaults?: readonly RuleDefault[]
  readonly conf: { enforce_new_defaults?: boolean; policy_default_rule?: string }
  readonly rule: string
  readonly creds: Values
  readonly target: Values
  readonly call: 'enforce' | 'enforce_raise' | 'authorize'
}
interface Vector {
  readonly in: Question
  readonly out?: unknown
  readonly error?: string
}

const kinds: Record<string, new (...args: never[]) => Error> = {
  InvalidScope,
  PolicyNotAuthorized,
  PolicyNotRegistered,
}
const ironicRules = facts.rules as readonly RuleDefault[]

function enforcerFor(question: Question): Enforcer {
  const defaults = question.ironic ? ironicRules : (question.defaults ?? [])
  const texts = [
    question.file_text ?? JSON.stringify(question.file ?? {}),
    ...(question.dirs ?? []).flatMap(({ files }) => {
      const shown = Object.keys(files).filter((name) => !name.startsWith('.'))
      return shown.sort().map((name) => files[name] ?? '')
    }),
  ]
  return new Enforcer(defaults, new Map(texts.flatMap((text) => [...parsePolicy(text, 'policy.yaml')])), {
    enforceNewDefaults: question.conf.enforce_new_defaults ?? true,
    defaultRule: question.conf.policy_default_rule ?? 'default',
  })
}

function ask(question: Question): unknown {
  const enforcer = enforcerFor(question)
  const { rule, target, creds } = question
  if (question.persona !== undefined) {
    return ironicRules.map(({ name }) => name).filter((name) => enforcer.allows(name, target, creds))
  }
  if (question.call === 'enforce') return enforcer.allows(rule, target, creds)
  try {
    if (question.call === 'authorize') enforcer.authorize(rule, target, creds)
    else enforcer.enforce(rule, target, creds)
    return true
  } catch (error) {
    if (question.call === 'authorize' && error instanceof PolicyNotAuthorized) return false
    throw error
  }
}

test('the recorded verdicts of oslo.policy', async (t) => {
  const questions = (vectors as unknown as Vector[]).filter(({ in: question }) => question.fn === undefined)
  assert.ok(questions.length > 300)
  for (const [index, vector] of questions.entries()) {
    await t.test(
      `${index}: ${JSON.stringify(vector.in.file ?? vector.in.file_text ?? vector.in.persona ?? vector.in.rule)}`,
      () => {
        if (vector.error === undefined) assert.deepEqual(ask(vector.in), vector.out)
        else assert.throws(() => ask(vector.in), kinds[vector.error] ?? Error)
      },
    )
  }
})

test('random rules get the verdict that oslo.policy gave them', () => {
  const { credentials, target, cases } = random as unknown as {
    credentials: Values
    target: Values
    cases: { f: Values; out?: boolean; error?: string }[]
  }
  assert.ok(cases.length > 500)
  for (const { f: file, out, error } of cases) {
    const verdict = () => policy(file).allows('r', target, credentials)
    if (error === undefined) assert.equal(verdict(), out, JSON.stringify(file))
    else assert.throws(verdict, JSON.stringify(file))
  }
})

const policy = (rules: Values, defaults: readonly RuleDefault[] = []) =>
  new Enforcer(defaults, parsePolicy(JSON.stringify(rules), 'policy.yaml'), {
    enforceNewDefaults: true,
    defaultRule: 'default',
  })

test('a remote check is refused, also where it is negated', () => {
  const enforcer = policy({ a: 'http://host/x', b: 'not http://host/x', c: '@ or https://host/y' })
  assert.throws(() => enforcer.allows('a', {}, {}), /remote checks are not done/)
  assert.throws(() => enforcer.allows('b', {}, {}), /remote checks are not done/)
  assert.equal(enforcer.allows('c', {}, {}), true)
  assert.equal(ruleProblems(enforcer.checks).length, 3)
})

test('problems of a set of rules are told by name', () => {
  const { checks } = policy({ a: 'rule:b', b: 'rule:a', c: 'rule:nowhere', d: 'role:x' })
  assert.deepEqual(
    ruleProblems(checks).map((problem) => /"(.)"/.exec(problem)?.[1]),
    ['a', 'b', 'c'],
  )
})

test('members of Object.prototype are no credentials, no target fields and no rules', () => {
  const enforcer = policy({ a: 'constructor:x', b: 'x:%(__proto__)s', c: 'rule:toString' })
  assert.deepEqual(
    ['a', 'b', 'c', 'constructor'].map((rule) => enforcer.allows(rule, {}, { x: 'x' })),
    [false, false, false, false],
  )
})

test('files are read again when one changes, comes or goes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'policy-'))
  try {
    const file = join(folder, 'policy.yaml')
    const dir = join(folder, 'policy.d')
    let known: readonly string[] = [file]
    const files = new PolicyFiles({
      file: 'policy.yaml',
      dirs: ['policy.d'],
      find: (path) => known.find((place) => place.endsWith(path)),
    })
    assert.equal(files.changed()?.size, 0)
    assert.equal(files.changed(), undefined)
    await writeFile(file, 'a: "!"\n')
    assert.deepEqual([...(files.changed() ?? [])], [['a', { kind: 'false' }]])
    assert.equal(files.changed(), undefined)
    await mkdir(dir)
    await writeFile(join(dir, 'b.yaml'), 'a: "@"\n')
    await writeFile(join(dir, '.hidden'), 'a: [')
    known = [file, dir]
    assert.deepEqual(files.changed()?.get('a'), { kind: 'true' })
    await writeFile(file, '- no mapping\n')
    assert.throws(() => files.changed(), PolicyFileError)
    assert.equal(files.changed(), undefined)
    await rm(file)
    assert.equal(files.changed()?.size, 1)
    await rm(join(dir, 'b.yaml'))
    assert.equal(files.changed()?.size, 0)
    await writeFile(file, 'a: "!"')
    assert.equal(files.changed()?.size, 1)
    await utimes(file, 1, 1)
    assert.equal(files.changed()?.size, 1)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('one authorization costs microseconds', () => {
  const enforcer = new Enforcer(ironicRules, new Map(), { enforceNewDefaults: true, defaultRule: 'default' })
  const creds = { roles: ['reader'], project_id: 'p', project_name: 'name', 'config.service_project_name': 'service' }
  const target = { ...creds, 'node.owner': 'p', 'node.lessee': null }
  const rounds = 20_000
  const start = performance.now()
  for (let i = 0; i < rounds; i++) enforcer.allows('baremetal:node:get', target, creds)
  const microseconds = ((performance.now() - start) * 1000) / rounds
  assert.ok(microseconds < 50, `${microseconds} µs`)
})
