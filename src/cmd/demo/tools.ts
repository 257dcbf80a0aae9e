import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Whether a program is on the PATH. */
export async function isInstalled(program: string): Promise<boolean> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin']
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}

/**
 * Makes sure of xorriso, with which boot ISOs are made: installs the Debian package when this is root on a Debian.
 * @throws Error that says how to install it
 */
export async function needXorriso(say: (line: string) => void): Promise<void> {
  if (await isInstalled('xorriso')) return
  const how =
    'Boot ISOs are made with xorriso, which is not installed. Install it (Debian, Ubuntu: apt install xorriso; Fedora: dnf install xorriso) and run this again.'
  if (process.getuid?.() !== 0 || !(await isInstalled('apt-get'))) throw new Error(how)
  say('Installing xorriso (once)…')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = { env, timeout: 5 * 60_000, maxBuffer: 16 * 1024 * 1024 }
  try {
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'xorriso'], options).catch(async () => {
      await run('apt-get', ['update'], options) // a fresh machine has no package lists yet
      await run('apt-get', ['install', '-y', '--no-install-recommends', 'xorriso'], options)
    })
  } catch (cause) {
    throw new Error(how, { cause })
  }
}
