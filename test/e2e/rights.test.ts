/**
 * Who may do what: answers recorded from real Ironic 39.0.0 for 40 callers, asked of our service. `test/rbac/check.mjs` plays
 * Keystone, creates the data, asks, and compares.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import plan from '../rbac/plan.json' with { type: 'json' }
import { freePorts } from '../../src/lab/scenario/service-process.ts'
import { startFakeHardwareService } from './fake-hardware-service.ts'

const run = promisify(execFile)
const checker = join(import.meta.dirname, '../rbac/check.mjs')

/** Answers that differ by decision, each told in docs/differences.md. */
const decided = [
  /: PATCH \S+ \(set maintenance\)$/, // asks the rule for maintenance, also through PATCH
  /: PATCH \/v1\/nodes\/\{n-a\} \(set parent_node\)$/, // a node is not its own parent
  /: (GET \/v1\/drivers|.*manual-management)/, // the hardware type manual-management needs a boot interface of its own
]

async function check(variant: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rights-'))
  const [port = 0] = await freePorts(1)
  try {
    const keystone = ['--keystone-port', String(port)]
    const conf = [checker, '--conf', variant, '--policy-file', join(folder, 'policy.yaml'), ...keystone]
    const { stdout: config } = await run(process.execPath, conf)
    await using service = await startFakeHardwareService(config)
    const args = [checker, service.url, '--variant', variant, '--show', '1000', ...keystone]
    const result = await run(process.execPath, args, { timeout: 300_000, maxBuffer: 2 ** 26 }).catch(
      (error: { stdout: string }) => error,
    )
    const lines = result.stdout.trim().split('\n')
    assert.match(lines.at(-1) ?? '', /^\d+ passed, \d+ failed$/, result.stdout)
    assert.doesNotMatch(await readFile(service.output, 'utf8'), / ERROR ironic\.api .* failed: /)
    return lines.filter((line, index) => /^\S+: [A-Z]+ /.test(line) && lines[index + 1]?.trim().startsWith('wanted'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

for (const { name } of plan.variants) {
  test(`rights as recorded, configuration "${name}"`, async () => {
    const different = (await check(name)).filter((line) => !decided.some((pattern) => pattern.test(line)))
    assert.deepEqual(different, [])
  })
}
