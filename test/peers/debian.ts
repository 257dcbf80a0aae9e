/** Debian packages that tests need: checked first, installed as root when missing. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { locked } from './lock.ts'

const run = promisify(execFile)

async function missing(packages: readonly string[]): Promise<string[]> {
  const installed = await Promise.all(
    packages.map(async (name) => {
      try {
        const { stdout } = await run('dpkg-query', ['-W', '-f', '${db:Status-Status}', name])
        return stdout.includes('installed') && !stdout.startsWith('not-')
      } catch {
        return false // dpkg-query ends with 1 for a package that it does not know
      }
    }),
  )
  return packages.filter((_, index) => !installed[index])
}

/**
 * Makes sure that Debian packages are installed.
 * @throws Error with the command to run, when they are missing and this is not root
 */
export async function needPackages(packages: readonly string[]): Promise<void> {
  if ((await missing(packages)).length === 0) return
  await locked('apt', async () => {
    const wanted = await missing(packages)
    if (wanted.length === 0) return
    const install = ['install', '-y', '-q', '--no-install-recommends', ...wanted]
    if (process.getuid?.() !== 0)
      throw new Error(`The tests need the Debian packages ${wanted.join(', ')}; as root: apt-get ${install.join(' ')}`)
    // runlevel 1: the services of the packages are not started
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
    await run('apt-get', ['update', '-q'], { env, timeout: 300_000, maxBuffer: 2 ** 26 })
    await run('apt-get', install, { env, timeout: 900_000, maxBuffer: 2 ** 26 })
  })
}
