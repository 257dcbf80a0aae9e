import { constants } from 'node:fs'
import { copyFile, link, lstat, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  ImageConvertFailed,
  ImageDownloadFailed,
  ImageRefValidationFailed,
  InsufficientDiskSpace,
} from '../errors/image.ts'
import { type CacheLimits, cleanUpFolder, ensureSpace, removeAbandoned, withPartialFolder } from './cache-folder.ts'
import { type Checksum, expectedDigest } from './checksums.ts'
import { convertToRaw } from './convert.ts'
import { fetchImage, type FetchParts } from './fetch.ts'
import { openImageFile } from './file-source.ts'
import { checkFormat, detectFormat, inspectImage, rawFormats } from './format-inspector.ts'
import { withProbe } from './format-probe.ts'
import { virtualSize } from './format-inspector.ts'
import { NamedLocks, Places } from './locks.ts'
import { imageSourceKind } from './reference.ts'
import { uuidOfUrl } from './uuid5.ts'

export interface WantedImage {
  readonly href: string
  /** where it shall be: a link into the cache, or a copy */
  readonly destination: string
  /** convert to raw */
  readonly toRaw: boolean
  /** declared format; null when nobody told */
  readonly format: string | null
  readonly checksum?: Checksum | undefined
  readonly signal?: AbortSignal | undefined
}

export interface CacheOptions {
  /** null: nothing is kept */
  readonly folder: string | null
  readonly limits: CacheLimits
  /** false for kernels and ramdisks, which no converter reads */
  readonly inspect: boolean
}

/** What is remembered of a kept image, beside it. */
interface Origin {
  readonly href: string
  readonly etag: string | null
  readonly lastModified: string | null
  /** format of what was fetched, before conversion */
  readonly format: string
  /** `algorithm:digits` that it was checked against, before conversion */
  readonly checksum: string | null
}

/** What the source says now. */
interface Source {
  readonly size: number
  readonly etag: string | null
  readonly lastModified: Date | null
  readonly keep: boolean
}

/** Images kept on disk, each fetched, checked and converted once. Same image, one user at a time. */
export class ImageCache {
  readonly #parts: FetchParts
  readonly #options: CacheOptions
  readonly #locks = new NamedLocks()
  readonly #downloads: Places
  #tidied: Promise<void> | undefined

  constructor(parts: FetchParts, options: CacheOptions) {
    this.#parts = parts
    this.#options = options
    this.#downloads = new Places(parts.config.DEFAULT.image_download_concurrency)
  }

  /**
   * Puts an image at its destination.
   * @returns the format of what was fetched
   * @throws ImageRefValidationFailed, ImageDownloadFailed, ImageChecksumError, InvalidImage, ImageConvertFailed,
   *   InsufficientDiskSpace
   */
  async fetch(wanted: WantedImage): Promise<{ format: string }> {
    const name = uuidOfUrl(wanted.href) + (wanted.toRaw ? '.converted' : '')
    await mkdir(dirname(wanted.destination), { recursive: true })
    const { folder } = this.#options
    if (folder === null) {
      return await this.#locks.with(name, () => this.#fetchInto(dirname(wanted.destination), wanted, null))
    }
    await (this.#tidied ??= removeAbandoned(folder))
    const result = await this.#locks.with(name, async () => {
      const source = await this.#look(wanted)
      const master = join(folder, name)
      const kept = await this.#fresh(master, source, wanted)
      if (kept !== null) {
        this.#check(kept.format, wanted)
        await place(master, wanted.destination)
        await touch(originPath(master), this.#parts.clock.now())
        return { format: kept.format }
      }
      await rm(master, { force: true })
      await ensureSpace(
        await existing(folder),
        source.size,
        this.#options.limits,
        this.#parts.clock.now(),
        this.#parts.log,
      )
      return await this.#fetchInto(folder, wanted, source.keep ? { master, source } : null)
    })
    await this.cleanUp()
    return result
  }

  /** Removes what is too old or too much. */
  async cleanUp(): Promise<void> {
    const { folder, limits } = this.#options
    if (folder === null || !(await isThere(folder))) return
    await this.#locks.with('clean up', () => cleanUpFolder(folder, limits, this.#parts.clock.now(), this.#parts.log))
  }

  async #look({ href, signal }: WantedImage): Promise<Source> {
    const kind = imageSourceKind(href)
    if (kind === 'http') {
      const head = await this.#parts.servers.head(href, { signal })
      return {
        size: head.size ?? 0,
        etag: head.etag ?? null,
        lastModified: head.lastModified ?? null,
        keep: !head.noStore,
      }
    }
    if (kind === 'file') {
      const file = await openImageFile(href, this.#parts.config.conductor.file_url_allowed_paths)
      await file.handle.close()
      return { size: file.size, etag: null, lastModified: file.modified, keep: false }
    }
    throw new ImageRefValidationFailed({
      image_href: href,
      reason: `images of the kind ${kind} are not fetched by this release; give an http(s):// or file:// reference`,
    })
  }

  /** The origin of a kept image that is proven to be what the source has and what was asked for; else null. */
  async #fresh(master: string, source: Source, wanted: WantedImage): Promise<Origin | null> {
    if (!source.keep) return null
    const origin = await originOf(master)
    if (origin === null) return null
    if (wanted.checksum !== undefined && digestText(wanted.checksum) !== origin.checksum) return null
    if (source.etag !== null || origin.etag !== null) return source.etag === origin.etag ? origin : null
    if (source.lastModified === null || origin.lastModified === null) return null
    return source.lastModified.getTime() <= Date.parse(origin.lastModified) ? origin : null
  }

  async #fetchInto(
    folder: string,
    wanted: WantedImage,
    keep: { master: string; source: Source } | null,
  ): Promise<{ format: string }> {
    return await withPartialFolder(folder, async (partial) => {
      const fetched = join(partial, 'image')
      await this.#downloads.with(() => fetchImage(this.#parts, wanted.href, fetched, wanted))
      const format = await this.#inspect(fetched, wanted)
      const ready = await this.#converted(fetched, format, wanted)
      if (keep === null) {
        await place(ready, wanted.destination)
        return { format }
      }
      await writeOrigin(keep.master, {
        href: wanted.href,
        etag: keep.source.etag,
        lastModified: keep.source.lastModified?.toISOString() ?? null,
        format,
        checksum: wanted.checksum === undefined ? null : digestText(wanted.checksum),
      })
      await rename(ready, keep.master)
      await place(keep.master, wanted.destination)
      return { format }
    })
  }

  async #inspect(path: string, wanted: WantedImage): Promise<string> {
    if (!this.#options.inspect) return 'raw'
    if (this.#parts.config.conductor.disable_deep_image_inspection) return await withProbe(path, detectFormat)
    const { format } = await inspectImage(path, wanted.href)
    this.#check(format, wanted)
    return format
  }

  #check(format: string, { format: declared, href }: WantedImage): void {
    const { disable_deep_image_inspection, permitted_image_formats } = this.#parts.config.conductor
    if (!this.#options.inspect || disable_deep_image_inspection) return
    checkFormat(format, declared, permitted_image_formats, href)
  }

  async #converted(path: string, format: string, { toRaw, href, signal }: WantedImage): Promise<string> {
    if (!toRaw || rawFormats.has(format) || format === 'iso') return path
    const size = await withProbe(path, (probe) => virtualSize(probe, format))
    await this.#roomFor(path, size)
    const destination = `${path}.raw`
    await convertToRaw(
      { source: path, sourceFormat: format, destination, size, name: href, signal },
      this.#parts.config,
      this.#parts.clock,
    )
    await rm(path)
    const became = await withProbe(destination, detectFormat)
    // a disk whose content looks like an image: the agent would take it for one
    if (!rawFormats.has(became)) {
      throw new ImageConvertFailed({ image_id: href, reason: `converted to raw, it looks like ${became}` })
    }
    return destination
  }

  /** Raw files are sparse: when the whole size does not fit, the usual growth is what is asked for. */
  async #roomFor(path: string, size: number): Promise<void> {
    const { limits } = this.#options
    const { clock, log, config } = this.#parts
    try {
      await ensureSpace(dirname(path), size, limits, clock.now(), log)
    } catch (error) {
      if (!(error instanceof InsufficientDiskSpace)) throw error
      const estimate = Math.min((await lstat(path)).size * config.DEFAULT.raw_image_growth_factor, size)
      await ensureSpace(dirname(path), estimate, limits, clock.now(), log)
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function digestText(checksum: Checksum): string {
  const { algorithm, digits } = expectedDigest(checksum)
  return `${algorithm}:${digits}`
}

const originPath = (master: string) => `${master}.origin.json`

async function writeOrigin(master: string, origin: Origin): Promise<void> {
  await writeFile(originPath(master), JSON.stringify(origin), { mode: 0o600 })
}

/** Null when there is no kept image, or nothing is known of it. */
async function originOf(master: string): Promise<Origin | null> {
  try {
    await lstat(master)
    return JSON.parse(await readFile(originPath(master), 'utf8')) as Origin
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

/** As long as the image is used, what is known of it is too. */
async function touch(path: string, now: Date): Promise<void> {
  try {
    await utimes(path, now, now)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function existing(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  return folder
}

/** Links, or copies where the file systems differ. */
async function place(from: string, destination: string): Promise<void> {
  await rm(destination, { force: true })
  try {
    await link(from, destination)
    return
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  try {
    await copyFile(from, destination, constants.COPYFILE_FICLONE)
  } catch (cause) {
    await rm(destination, { force: true })
    throw new ImageDownloadFailed(
      { image_href: destination, reason: `it cannot be put there: ${(cause as Error).message}` },
      { cause },
    )
  }
}
