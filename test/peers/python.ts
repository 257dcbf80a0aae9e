/** Python peers (real Ironic, its clients, sushy-tools, the ramdisk agent) in virtual environments that are kept between runs. */
import { execFile, type ExecFileOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { needPackages } from './debian.ts'
import { cacheFolder, locked } from './lock.ts'

const run = promisify(execFile)

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * A virtual environment with these requirements, made at its first use.
 * @param name a short name for people
 * @param requirements as pip takes them, pinned: `ironic==39.0.0`
 * @returns its folder; commands are in `bin/`
 */
export async function peerVenv(name: string, requirements: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(requirements.join('\n')).digest('hex').slice(0, 8)
  const folder = join(cacheFolder, 'venvs', `${name}-${digest}`)
  const ready = join(folder, '.ready')
  if (await exists(ready)) return folder
  await locked(`venv-${name}-${digest}`, async () => {
    if (await exists(ready)) return
    await needPackages(['python3', 'python3-venv'])
    await rm(folder, { recursive: true, force: true })
    await mkdir(join(cacheFolder, 'venvs'), { recursive: true })
    const options: ExecFileOptions = { timeout: 900_000, maxBuffer: 2 ** 26 }
    await run('python3', ['-m', 'venv', folder], options)
    await run(
      join(folder, 'bin/python'),
      ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements],
      options,
    )
    await writeFile(ready, `${requirements.join('\n')}\n`)
  })
  return folder
}

/**
 * Runs a Python program of a virtual environment.
 * @param venv folder from `peerVenv`
 * @param args `['-c', program, …]` or `['-m', module, …]`
 * @returns what it printed
 */
export async function runPython(venv: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  const { stdout } = await run(join(venv, 'bin/python'), args, {
    timeout: 120_000,
    maxBuffer: 2 ** 26,
    ...options,
    encoding: 'utf8',
  })
  return stdout
}

/** Runs a command of a virtual environment. @returns what it printed */
export async function runPeer(
  venv: string,
  command: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string> {
  const { stdout } = await run(join(venv, 'bin', command), args, {
    timeout: 120_000,
    maxBuffer: 2 ** 26,
    ...options,
    encoding: 'utf8',
  })
  return stdout
}

/** The release that we stand in for, with what its database and message bus need. */
export const ironicPeer = (): Promise<string> => peerVenv('ironic', ['ironic==39.0.0', 'pymysql'])
