import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { it } from 'node:test'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const limit = { timeout: 180_000 }

it('the build runs: every command of the package answers, and the database is made', { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'openkeel-build-'))
  try {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> }
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    await run(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')], limit)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
    for (const [name, file] of Object.entries(bin)) {
      const path = join(folder, file)
      assert.ok(
        readFileSync(path, 'utf8').startsWith('#!/usr/bin/env node\n'),
        `${name} has a first line for the shell`,
      )
      const { stdout } = await run(process.execPath, [path, '--help'], { ...limit, env })
      assert.match(stdout, new RegExp(`^usage: ${name} `))
    }
    const conf = join(folder, 'ironic.conf')
    writeFileSync(conf, `[database]\nconnection = sqlite:///${join(folder, 'x.sqlite')}\n`)
    const dbsync = (command: string) =>
      run(process.execPath, [join(folder, bin['ironic-dbsync']!), '--config-file', conf, command], { ...limit, env })
    await dbsync('create_schema')
    assert.equal((await dbsync('version')).stdout, '9fb44677ef15\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
