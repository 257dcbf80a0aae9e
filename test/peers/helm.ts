/** Helm, built from its Go module into the cache. */
import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, locked } from './lock.ts'

const run = promisify(execFile)
const version = 'v3.18.6'

/** @returns the path of the program. @throws Error when there is no Go to build it with */
export async function helm(): Promise<string> {
  const folder = join(cacheFolder, `helm-${version}`)
  const program = join(folder, 'helm')
  const isThere = () =>
    access(program).then(
      () => true,
      () => false,
    )
  if (await isThere()) return program
  await locked('helm', async () => {
    if (await isThere()) return
    await mkdir(folder, { recursive: true })
    await run('go', ['install', `helm.sh/helm/v3/cmd/helm@${version}`], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath' },
      timeout: 1_200_000,
      maxBuffer: 2 ** 26,
    })
  })
  return program
}
