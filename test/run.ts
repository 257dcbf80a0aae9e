/**
 * The test command. Each suite is one process of `node:test`; unit tests share a process, so no global can hide.
 * Ends with `N passed, N failed` over all suites.
 */
import { spawn } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')

interface Suite {
  readonly name: string
  readonly files: readonly string[]
  /** milliseconds after which the suite is given up */
  readonly limit: number
}

const suites: readonly Suite[] = [
  { name: 'unit', files: ['src/**/*.test.ts'], limit: 10 * 60_000 },
  { name: 'architecture', files: ['test/architecture/**/*.test.ts'], limit: 5 * 60_000 },
  { name: 'coverage', files: ['test/coverage/**/*.test.ts'], limit: 5 * 60_000 },
  { name: 'wire', files: ['test/wire/**/*.test.ts'], limit: 20 * 60_000 },
  { name: 'contract', files: ['test/contracts/**/*.test.ts'], limit: 20 * 60_000 },
  { name: 'e2e', files: ['test/e2e/**/*.test.ts'], limit: 45 * 60_000 },
]

interface Tally {
  passed: number
  failed: number
}

/** Runs one suite; what it prints goes through, its counts come back. */
async function runSuite(suite: Suite): Promise<Tally> {
  const files = (await Promise.all(suite.files.map((pattern) => Array.fromAsync(glob(pattern, { cwd: root }))))).flat()
  if (files.length === 0) return { passed: 0, failed: 0 }
  console.log(`\n== ${suite.name}: ${files.length} files`)
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--test-isolation=none',
      '--test-force-exit',
      '--test-reporter=spec',
      '--test-timeout=600000',
      ...files.sort(),
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_NO_WARNINGS: '1' } },
  )
  const limit = setTimeout(() => child.kill('SIGKILL'), suite.limit)
  const tally: Tally = { passed: 0, failed: 0 }
  for await (const line of createInterface({ input: child.stdout })) {
    const count = /^ℹ (pass|fail|cancelled) (\d+)$/.exec(line)
    if (count?.[1] === 'pass') tally.passed += Number(count[2])
    else if (count !== null) tally.failed += Number(count[2])
    console.log(line)
  }
  const code = await new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode)
    else child.once('exit', (status) => resolve(status))
  })
  clearTimeout(limit)
  if (code !== 0 && tally.failed === 0) {
    console.log(`${suite.name}: ended with status ${code}`)
    tally.failed = 1
  }
  return tally
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name))
if (unknown.length > 0) {
  console.error(`No suite is called ${unknown.join(', ')}; there are: ${suites.map((suite) => suite.name).join(', ')}`)
  process.exit(2)
}
const total: Tally = { passed: 0, failed: 0 }
for (const suite of suites) {
  if (wanted.length > 0 && !wanted.includes(suite.name)) continue
  const tally = await runSuite(suite)
  total.passed += tally.passed
  total.failed += tally.failed
}
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
