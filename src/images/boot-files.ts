import type { Config } from '../config/index.ts'
import { openImageFile } from './file-source.ts'
import type { Images } from './images.ts'
import { imageSourceKind } from './reference.ts'

/** Gets kernels, ramdisks, boot loaders and firmware to where they can be read as files, byte for byte as they are. */
export class BootFiles {
  private readonly config: Config
  private readonly images: Images

  constructor(config: Config, images: Images) {
    this.config = config
    this.images = images
  }

  /**
   * A path with the content of the reference: the file itself when it is one of this host, else a download at `path`.
   * @throws ImageRefValidationFailed, ImageDownloadFailed
   */
  async at(href: string, path: string, signal: AbortSignal): Promise<string> {
    if (imageSourceKind(href) === 'file') {
      const file = await openImageFile(href, this.config.conductor.file_url_allowed_paths)
      await file.handle.close()
      return file.path
    }
    await this.images.fetch(href, path, { signal, asIs: true })
    return path
  }
}
