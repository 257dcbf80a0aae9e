import { lstat, mkdir, mkdtemp, readdir, rm, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { InsufficientDiskSpace } from '../errors/image.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'

const mebibyte = 1024 * 1024
const partialPrefix = 'partial-'

interface CachedFile {
  readonly path: string
  readonly size: number
  /** when it was last of use, in ms */
  readonly used: number
  /** nobody else has a link to it */
  readonly free: boolean
}

export interface CacheLimits {
  /** bytes */
  readonly size: number
  readonly ageMs: number
}

const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

async function filesOf(folder: string): Promise<CachedFile[]> {
  const files: CachedFile[] = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    try {
      const facts = await lstat(path)
      if (!facts.isFile()) continue
      // access times may be switched off; a new link changes the ctime
      const used = Math.max(facts.mtimeMs, facts.atimeMs, facts.ctimeMs)
      files.push({ path, size: facts.size, used, free: facts.nlink === 1 })
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  return files
}

/**
 * Removes files that nobody uses: those too old, then the oldest while the folder is over its size.
 * @param amount bytes that are needed; with it no more is removed than that takes, and the size limit alone is no reason to stop
 * @returns bytes that were freed
 */
export async function cleanUpFolder(
  folder: string,
  limits: CacheLimits,
  now: Date,
  log: Logger,
  amount: number | null = null,
): Promise<number> {
  const files = await filesOf(folder)
  let total = files.reduce((sum, file) => sum + file.size, 0)
  let freed = 0
  const enough = () => amount !== null && freed >= amount
  const candidates = files.filter((file) => file.free).sort((a, b) => a.used - b.used)
  for (const file of candidates) {
    const tooOld = file.used < now.getTime() - limits.ageMs
    if (enough() || (!tooOld && total <= limits.size && amount === null)) break
    try {
      await unlink(file.path)
    } catch (error) {
      if (isGone(error)) continue
      log.warning(`${file.path} cannot be removed from the image cache`, { error })
      continue
    }
    total -= file.size
    freed += file.size
  }
  return freed
}

export async function freeSpace(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/**
 * Makes sure that so many bytes are free, if need be at the cost of cached files.
 * @throws InsufficientDiskSpace
 */
export async function ensureSpace(
  folder: string,
  needed: number,
  limits: CacheLimits,
  now: Date,
  log: Logger,
): Promise<void> {
  let free = await freeSpace(folder)
  if (needed < free) return
  await cleanUpFolder(folder, limits, now, log, needed - free)
  free = await freeSpace(folder)
  if (needed >= free) {
    throw new InsufficientDiskSpace({
      path: folder,
      required: Math.ceil(needed / mebibyte),
      actual: Math.floor(free / mebibyte),
    })
  }
}

/** A folder for one download, removed with all that is in it. Its name tells the process, for those that died over it. */
export async function withPartialFolder<T>(folder: string, body: (path: string) => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const path = await mkdtemp(join(folder, `${partialPrefix}${process.pid}-`))
  try {
    return await body(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Removes what downloads of processes that are no more have left. */
export async function removeAbandoned(folder: string): Promise<void> {
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    if (isGone(error)) return
    throw error
  }
  for (const name of names) {
    const pid = new RegExp(`^${partialPrefix}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid))) {
      await rm(join(folder, name), { recursive: true, force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
