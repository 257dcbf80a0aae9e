import type { Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, link, lstat, open, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import {
  ImageChecksumAlgorithmFailure,
  ImageChecksumError,
  ImageDownloadFailed,
  ImageRefValidationFailed,
} from '../errors/image.ts'
import { ProgramFailed, runProgram } from '../lib/exec/run.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { type Checksum, compareDigest, expectedDigest, hashFor, verifyFile } from './checksums.ts'
import { withoutPassword } from './credentials.ts'
import { openImageFile } from './file-source.ts'
import type { ImageServers } from './http.ts'
import { imageSourceKind } from './reference.ts'

export interface FetchParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly servers: ImageServers
}

export interface FetchOptions {
  readonly checksum?: Checksum | undefined
  readonly signal?: AbortSignal | undefined
  /** what is compressed stays so */
  readonly asIs?: boolean | undefined
}

/** Images are no secrets, and another process may serve them; until they are whole they lie in a folder of ours. */
const imageMode = 0o644
/** A body that broke off, or a sum that was wrong once, is fetched again; a full disk is not. */
const downloadAttempts = 3
const betweenAttemptsMs = 2000

/**
 * Brings an image to a path of ours, and checks it while it comes. Nothing is left at the path when it fails.
 * @throws ImageRefValidationFailed, ImageDownloadFailed, ImageChecksumError, ImageChecksumAlgorithmFailure
 */
export async function fetchImage(
  parts: FetchParts,
  href: string,
  path: string,
  { checksum, signal, asIs = false }: FetchOptions = {},
): Promise<void> {
  const wanted = parts.config.conductor.disable_file_checksum ? undefined : checksum
  const expected = wanted === undefined ? undefined : expectedDigest(wanted)
  if (expected?.algorithm === 'md5' && !parts.config.agent.allow_md5_checksum)
    throw new ImageChecksumAlgorithmFailure({})
  try {
    const kind = imageSourceKind(href)
    if (kind === 'file') {
      await takeFile(parts, href, path)
      if (wanted !== undefined) await verifyFile(path, wanted, signal)
    } else if (kind === 'http') {
      await download(parts, href, path, expected, signal)
    } else {
      throw new ImageRefValidationFailed({ image_href: href, reason: unreached[kind] })
    }
    if (!asIs) await decompressZstandard(parts, path, signal)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

const unreached = {
  glance: 'images in Glance are not fetched by this release; give an http(s):// or file:// reference',
  oci: 'images in OCI registries are not fetched by this release; give an http(s):// or file:// reference',
  nfs: 'NFS shares are read by BMCs only, not by the conductor',
  cifs: 'CIFS shares are read by BMCs only, not by the conductor',
} as const

/** A link when it is on the same file system, else a copy. The file that was checked is the one that is taken. */
async function takeFile({ config, log }: FetchParts, href: string, path: string): Promise<void> {
  const { handle, path: source } = await openImageFile(href, config.conductor.file_url_allowed_paths)
  try {
    await rm(path, { force: true })
    if (await linked(handle, source, path)) return
    log.debug(`${source} cannot be linked to ${path}, it is copied`)
    // by its descriptor: what the name stands for may have changed
    await copyFile(`/proc/self/fd/${handle.fd}`, path, constants.COPYFILE_FICLONE)
  } catch (cause) {
    throw new ImageDownloadFailed({ image_href: href, reason: diskReason(cause) }, { cause })
  } finally {
    await handle.close()
  }
}

async function linked(handle: FileHandle, source: string, path: string): Promise<boolean> {
  try {
    await link(source, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return false
  }
  const [checked, made] = [await handle.stat(), await lstat(path)]
  if (checked.ino === made.ino && checked.dev === made.dev) return true
  await rm(path)
  return false
}

async function download(
  parts: FetchParts,
  href: string,
  path: string,
  expected: { algorithm: string; digits: string } | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const hash = expected === undefined ? undefined : hashFor(expected.algorithm)
      await downloadOnce(parts, href, path, hash, signal)
      if (expected !== undefined) compareDigest(expected, hash!.digest('hex'))
      return
    } catch (error) {
      const again = error instanceof ImageChecksumError || (error instanceof ImageDownloadFailed && !isDiskFull(error))
      if (!again || attempt >= downloadAttempts) throw error
      parts.log.warning(`Image ${withoutPassword(href)}: attempt ${attempt} of ${downloadAttempts} failed`, { error })
      await parts.clock.sleep(betweenAttemptsMs, signal)
    }
  }
}

async function downloadOnce(
  { servers }: FetchParts,
  href: string,
  path: string,
  hash: Hash | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { body } = await servers.get(href, { signal })
  const handle = await open(path, 'w', imageMode)
  try {
    for await (const part of body) {
      hash?.update(part)
      await handle.writeFile(part)
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof ImageDownloadFailed || (cause as NodeJS.ErrnoException).code === undefined) throw cause
    throw new ImageDownloadFailed({ image_href: withoutPassword(href), reason: diskReason(cause) }, { cause })
  } finally {
    await handle.close()
  }
}

const isDiskFull = (error: Error) =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error.cause as NodeJS.ErrnoException)?.code ?? '')

function diskReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' ? `the disk of this conductor is full (${code})` : message
}

const zstandardMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const decompressionLimitMs = 60 * 60 * 1000

/** Images may be compressed by zstd, which no HTTP layer undoes. What comes out may not fill the disk. */
async function decompressZstandard({ config, log }: FetchParts, path: string, signal?: AbortSignal): Promise<void> {
  if (config.conductor.disable_zstandard_decompression) return
  const handle = await open(path, 'r')
  const start = Buffer.alloc(4)
  await handle.read(start, 0, 4, 0)
  await handle.close()
  if (!start.equals(zstandardMagic)) return
  const compressed = `${path}.zst`
  await rename(path, compressed)
  const { bavail, bsize } = await statfs(dirname(path))
  try {
    await runProgram('zstd', ['-d', '-q', '-f', '-o', path, compressed], {
      timeoutMs: decompressionLimitMs,
      signal,
      fileSizeLimit: Math.floor(bavail * bsize * 0.95),
    })
    log.debug(`${path} was compressed by zstd`)
  } catch (cause) {
    if (!(cause instanceof ProgramFailed)) throw cause
    throw new ImageDownloadFailed(
      { image_href: path, reason: `it cannot be decompressed: ${cause.message}` },
      { cause },
    )
  } finally {
    await rm(compressed, { force: true })
  }
}
