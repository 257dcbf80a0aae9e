/** Several test processes share the caches: who prepares one holds its lock. */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What tests keep between runs; safe to remove at any time. */
export const cacheFolder = join(import.meta.dirname, '../../.cache')

const patience = 20 * 60_000

async function abandoned(folder: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    process.kill(pid, 0)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
    // the owner is between making the folder and writing its number
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }))
    return Date.now() - mtimeMs > 10_000
  }
}

/** Runs `body` while no other process does so under the same name. */
export async function locked<T>(name: string, body: () => Promise<T>): Promise<T> {
  const folder = join(cacheFolder, 'locks', name)
  await mkdir(join(cacheFolder, 'locks'), { recursive: true })
  const end = Date.now() + patience
  for (;;) {
    try {
      await mkdir(folder)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (await abandoned(folder)) await rm(folder, { recursive: true, force: true })
      else if (Date.now() > end)
        throw new Error(`Waited too long for ${folder}; remove it if nothing runs.`, { cause: error })
      else await sleep(200)
    }
  }
  try {
    await writeFile(join(folder, 'pid'), String(process.pid))
    return await body()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
