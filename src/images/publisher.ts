import { randomBytes } from 'node:crypto'
import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { ImageUploadFailed } from '../errors/image.ts'

/** Files in the making bear this name: no web server shows hidden names, and none of ours serves them. */
const stagingPrefix = '.staging-'
/** What a crash left behind is taken away after so long; nobody builds one file for hours. */
const staleMs = 6 * 60 * 60 * 1000

export interface PublisherSettings {
  /** `[deploy]http_root` */
  readonly root: string
  /** folder below it, `redfish`; `''`: the root itself */
  readonly subfolder: string
  /** addresses of the root; the first that is set counts */
  readonly urls: readonly (string | null | undefined)[]
  readonly fileMode: number
  readonly folderMode: number
}

/** How files for BMCs are published. With the embedded server nobody else needs to read them. */
export function bmcPublisherSettings({ deploy, redfish, openkeel }: Config): PublisherSettings {
  if (redfish.use_swift)
    throw new InvalidParameterValue(
      '[redfish]use_swift is set, but this release publishes boot images over HTTP only; unset it and set [deploy]http_root and [deploy]http_url.',
    )
  const embedded = openkeel.embedded_http_server
  return {
    root: deploy.http_root,
    subfolder: 'redfish',
    urls: [deploy.external_http_url, deploy.http_url],
    fileMode: embedded ? 0o600 : redfish.file_permission,
    folderMode: embedded ? 0o700 : 0o755,
  }
}

/**
 * Makes files readable over HTTP, under names that cannot be guessed: a boot image carries the token of its agent. All files of
 * one stem (`boot-<node>`) are one thing; publishing it again takes the former ones away.
 */
export class Publisher {
  private readonly settings: PublisherSettings

  constructor(settings: PublisherSettings) {
    this.settings = settings
  }

  private get folder(): string {
    return join(this.settings.root, this.settings.subfolder)
  }

  /**
   * Publishes what `write` puts at the path that it is given (in the same file system, readable by nobody else).
   * @param externalUrl the node's own address for the root, before the configured ones
   * @returns its URL
   * @throws InvalidParameterValue when no address is configured; ImageUploadFailed when the folder cannot be written
   */
  async publish(
    stem: string,
    extension: string,
    write: (path: string) => Promise<void>,
    externalUrl: string | null = null,
  ): Promise<string> {
    const base = [externalUrl, ...this.settings.urls].find((url) => Boolean(url))
    if (!base)
      throw new InvalidParameterValue(
        'No address for published files is configured; set [deploy]http_url to that of [deploy]http_root.',
      )
    const name = `${checked(stem)}-${randomBytes(16).toString('base64url')}${extension}`
    const staged = join(this.folder, `${stagingPrefix}${name}`)
    await this.prepareFolder()
    try {
      await write(staged)
      if ((await stat(staged)).nlink === 1) await chmod(staged, this.settings.fileMode)
      await this.withdraw(stem)
      await rename(staged, join(this.folder, name))
    } catch (cause) {
      await rm(staged, { force: true })
      if (!isFileError(cause)) throw cause
      throw new ImageUploadFailed({ image_name: name, web_server: this.folder, reason: cause.message }, { cause })
    }
    return [base.replace(/\/+$/, ''), this.settings.subfolder, name].filter((part) => part !== '').join('/')
  }

  /**
   * Publishes a file that is there already: as a hard link; as a copy when it is on another file system, or has a mode that must
   * not be given away by a link.
   */
  publishFile(stem: string, extension: string, source: string, externalUrl: string | null = null): Promise<string> {
    const { fileMode } = this.settings
    const write = async (path: string) => {
      const readable = ((await stat(source)).mode & fileMode) === fileMode
      if (readable) await linkOrCopy(source, path)
      else await copyFile(source, path)
    }
    return this.publish(stem, extension, write, externalUrl)
  }

  /** Takes every file of the stem away. Nothing there is fine. */
  async withdraw(stem: string): Promise<void> {
    const prefix = `${checked(stem)}-`
    for (const name of await this.names())
      if (name.startsWith(prefix)) await rm(join(this.folder, name), { force: true })
  }

  private async prepareFolder(): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true, mode: this.settings.folderMode })
    } catch (cause) {
      if (!isFileError(cause)) throw cause
      throw new ImageUploadFailed(
        { image_name: this.settings.subfolder, web_server: this.settings.root, reason: cause.message },
        { cause },
      )
    }
    for (const name of await this.names()) {
      if (!name.startsWith(stagingPrefix)) continue
      const path = join(this.folder, name)
      const found = await stat(path).catch(missing)
      if (found !== null && Date.now() - found.mtimeMs > staleMs) await rm(path, { force: true })
    }
  }

  private async names(): Promise<string[]> {
    return (await readdir(this.folder).catch(missing)) ?? []
  }
}

/** A hard link; a copy where that is impossible (another file system, a file of another owner). */
export async function linkOrCopy(source: string, path: string): Promise<void> {
  try {
    await link(source, path)
  } catch (error) {
    if (!isFileError(error) || !['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EACCES'].includes(error.code ?? ''))
      throw error
    await copyFile(source, path)
  }
}

const checked = (stem: string): string => {
  if (stem === '' || stem.startsWith('.') || basename(stem) !== stem || stem.includes('\0'))
    throw new InvalidParameterValue(`${JSON.stringify(stem)} cannot be the name of a published file.`)
  return stem
}

const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && 'syscall' in error

const missing = (error: unknown): null => {
  if (isFileError(error) && error.code === 'ENOENT') return null
  throw error
}
