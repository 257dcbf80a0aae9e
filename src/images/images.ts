import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { ImageCache } from './cache.ts'
import { fetchImage, type FetchOptions, type FetchParts } from './fetch.ts'
import { type Checksum, chooseChecksum, hashFile } from './checksums.ts'
import { pathOfFileUrl, openImageFile } from './file-source.ts'
import { ImageServers } from './http.ts'

const mebibyte = 1024 * 1024
const minute = 60 * 1000

export interface ImageParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
}

/** All that a conductor has to do with image files: one of these for all drivers. */
export class Images {
  readonly servers: ImageServers
  /** images of instances, by `[pxe]instance_master_path` */
  readonly instances: ImageCache
  /** kernels and ramdisks, by `[pxe]tftp_master_path` */
  readonly ramdisks: ImageCache
  /** boot ISOs, by `[deploy]iso_master_path` */
  readonly isos: ImageCache
  readonly #fetchParts: FetchParts

  constructor({ config, clock, log }: ImageParts) {
    this.servers = new ImageServers(config)
    this.#fetchParts = { config, clock, log, servers: this.servers }
    const { pxe, deploy } = config
    const limits = (megabytes: number, minutes: number) => ({ size: megabytes * mebibyte, ageMs: minutes * minute })
    this.instances = new ImageCache(this.#fetchParts, {
      folder: pxe.instance_master_path || null,
      limits: limits(pxe.image_cache_size, pxe.image_cache_ttl),
      inspect: true,
    })
    this.ramdisks = new ImageCache(this.#fetchParts, {
      folder: pxe.tftp_master_path || null,
      limits: limits(pxe.image_cache_size, pxe.image_cache_ttl),
      inspect: false,
    })
    this.isos = new ImageCache(this.#fetchParts, {
      folder: deploy.iso_master_path || null,
      limits: limits(deploy.iso_cache_size, deploy.iso_cache_ttl),
      inspect: false,
    })
  }

  /** Removes from all caches what is too old or too much. */
  async cleanUp(): Promise<void> {
    for (const cache of [this.instances, this.ramdisks, this.isos]) await cache.cleanUp()
  }

  async close(): Promise<void> {
    await this.servers.close()
  }

  /** Fetches a file without keeping it. */
  async fetch(href: string, path: string, options: FetchOptions = {}): Promise<void> {
    await fetchImage(this.#fetchParts, href, path, options)
  }

  /** The checksum that `instance_info` asks for, in whatever form. @throws ImageChecksumAlgorithmFailure and what a download throws */
  async checksumFor(
    instanceInfo: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Checksum | undefined> {
    const { config } = this.#fetchParts
    const chosen = await chooseChecksum(instanceInfo, {
      allowMd5: config.agent.allow_md5_checksum,
      allowChecksumFiles: !config.conductor.disable_support_for_checksum_files,
      fetchText: (url) => this.servers.text(url, { signal }),
      hashOfFile: async (source) => {
        const allowed = config.conductor.file_url_allowed_paths
        pathOfFileUrl(source, allowed)
        const { handle, path } = await openImageFile(source, allowed)
        await handle.close()
        return await hashFile(path, 'sha256', signal)
      },
    })
    if (typeof chosen.checksum !== 'string') return undefined
    return {
      checksum: chosen.checksum,
      algorithm: typeof chosen.algorithm === 'string' && chosen.algorithm !== '' ? chosen.algorithm : null,
    }
  }
}
