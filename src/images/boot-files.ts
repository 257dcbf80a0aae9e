import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { openImageFile } from './file-source.ts'
import { ImageServers } from './http.ts'
import { imageSourceKind } from './reference.ts'

/** Gets kernels, ramdisks, boot loaders and ISOs to where they can be read as files. */
export class BootFiles {
  private readonly config: Config
  private readonly servers: ImageServers

  constructor(config: Config) {
    this.config = config
    this.servers = new ImageServers(config)
  }

  close(): Promise<void> {
    return this.servers.close()
  }

  /**
   * A path with the content of the reference: the file itself when it is one of this host, else a download at `path`.
   * @throws ImageRefValidationFailed, ImageDownloadFailed; InvalidParameterValue for a source that boot files cannot come from
   */
  async at(href: string, path: string, signal: AbortSignal): Promise<string> {
    const kind = imageSourceKind(href)
    if (kind === 'file') {
      const file = await openImageFile(href, this.config.conductor.file_url_allowed_paths)
      await file.handle.close()
      return file.path
    }
    if (kind !== 'http')
      throw new InvalidParameterValue(
        `The boot file ${href} cannot be fetched by ${kind}; publish it over HTTP or as a file of the conductor.`,
      )
    const { body } = await this.servers.get(href, { signal })
    await pipeline(body, createWriteStream(path, { mode: 0o600 }), { signal })
    return path
  }
}
