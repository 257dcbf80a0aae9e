import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { openImageFile } from './file-source.ts'
import type { Images } from './images.ts'
import { bmcPublisherSettings, Publisher } from './publisher.ts'
import { imageSourceKind } from './reference.ts'

export interface RemoteImage {
  readonly href: string
  /** what it is published as: `cdrom-<node>`; what was published so before goes away */
  readonly stem: string
  readonly extension: string
  /** `local`: we fetch it; `http`: the BMC does, where it can */
  readonly source: string
  /** the node's own address for published files */
  readonly externalUrl: string | null
  readonly signal: AbortSignal
}

const shares = ['nfs', 'cifs', 'smb']

/** Images that users name, on their way to a BMC: passed on by address, or fetched (once for all nodes) and published. */
export class RemoteImages {
  private readonly config: Config
  private readonly images: Images

  constructor(config: Config, images: Images) {
    this.config = config
    this.images = images
  }

  /**
   * The address to give to the BMC.
   * @throws InvalidParameterValue for a share that we should fetch from; ImageRefValidationFailed, ImageDownloadFailed …
   */
  async addressFor({ href, stem, extension, source, externalUrl, signal }: RemoteImage): Promise<string> {
    const scheme = URL.parse(href)?.protocol.replace(':', '').toLowerCase() ?? ''
    if (scheme === 'swift') return href
    if (source === 'local' && shares.includes(scheme))
      throw new InvalidParameterValue(
        `The image ${href} cannot be fetched by the conductor; set image_download_source to http so that the BMC reads it itself.`,
      )
    if (source !== 'local' && ['http', 'https', ...shares].includes(scheme)) return href
    if (imageSourceKind(href) === 'file') {
      const file = await openImageFile(href, this.config.conductor.file_url_allowed_paths)
      await file.handle.close()
      return this.publisher().publishFile(stem, extension, file.path, externalUrl)
    }
    const fetchTo = async (destination: string) => {
      await this.images.isos.fetch({ href, destination, toRaw: false, format: null, signal })
    }
    return this.publisher().publish(stem, extension, fetchTo, externalUrl)
  }

  /** Takes what was published away. Nothing there is fine. */
  remove(stem: string): Promise<void> {
    return this.publisher().withdraw(stem)
  }

  private publisher(): Publisher {
    return new Publisher(bmcPublisherSettings(this.config))
  }
}
