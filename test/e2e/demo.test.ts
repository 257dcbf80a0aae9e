/** The demonstration as a person starts it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { request } from 'undici'
import { needPackages } from '../peers/debian.ts'

const demo = join(import.meta.dirname, '../../src/cmd/demo.ts')

/** Starts the demo in an empty folder for temporary files. */
async function startDemo(args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'))
  const child = spawn(process.execPath, [demo, ...args.map((arg) => arg.replace('FOLDER', folder))], {
    env: { ...process.env, TMPDIR: folder, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      for (const watcher of watchers) watcher()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const says = (what: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const look = () => {
        const found = what.exec(printed)
        if (found === null) return
        watchers.delete(look)
        resolve(found)
      }
      watchers.add(look)
      look()
    })
  return {
    folder,
    child,
    ended,
    says,
    printed: () => printed,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

test(
  '--once: all nodes become active, status 0; --keep leaves what a person wants to look at',
  { timeout: 300_000 },
  async (context) => {
    await needPackages(['xorriso'])
    const run = await startDemo(['--nodes', '2', '--once', '--keep', 'FOLDER/kept'])
    context.after(run.remove)
    assert.equal(await run.ended, 0, run.printed())
    assert.match(run.printed(), /2 of 2 nodes are active after/)
    assert.match(run.printed(), /lab-1 {2}deploy, active/)
    const kept = join(run.folder, 'kept')
    assert.deepEqual((await readdir(run.folder)).sort(), ['kept'])
    assert.equal((await stat(join(kept, 'ironic.conf'))).mode & 0o077, 0)
    assert.match(await readFile(join(kept, 'state/ironic.log'), 'utf8'), /went from deploying to active/)
  },
)

test(
  'without --once the service stays until Ctrl-C, then everything is gone',
  { timeout: 300_000 },
  async (context) => {
    await needPackages(['xorriso'])
    const run = await startDemo(['--nodes', '1'])
    context.after(run.remove)
    const [, api = ''] = await run.says(/OS_ENDPOINT=(\S+)/)
    await run.says(/Ctrl-C ends everything/)
    const answer = await request(`${api}/v1/nodes`)
    assert.equal(answer.statusCode, 200)
    await answer.body.dump()
    run.child.kill('SIGINT')
    await run.ended
    await assert.rejects(request(`${api}/v1/nodes`), /ECONNREFUSED/)
    assert.deepEqual(await readdir(run.folder), [])
  },
)

test('wrong arguments and a folder that is in use are refused in words', { timeout: 60_000 }, async (context) => {
  const cases: [string[], RegExp][] = [
    [['--nodes', 'many'], /--nodes must be a whole number/],
    [['--nodes', '0'], /--nodes must be a whole number/],
    [['--frobnicate'], /frobnicate/],
    [['--keep', join(import.meta.dirname)], /is not empty/],
  ]
  for (const [args, told] of cases) {
    const run = await startDemo(args)
    context.after(run.remove)
    assert.equal(await run.ended, 1, run.printed())
    assert.match(run.printed(), told)
  }
})
