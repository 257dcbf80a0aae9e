import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { Publisher } from './publisher.ts'

export type ShareProtocol = 'nfs' | 'cifs'

/** @throws InvalidParameterValue when `[nfs]` or `[cifs]` does not say where the share is */
export function checkShare(config: Config, protocol: ShareProtocol): { baseUrl: string; sharePath: string } {
  const { base_url: baseUrl, share_path: sharePath } = config[protocol]
  if (!baseUrl || !sharePath)
    throw new InvalidParameterValue(
      `Virtual media by ${protocol.toUpperCase()} needs [${protocol}]base_url and [${protocol}]share_path.`,
    )
  return { baseUrl, sharePath }
}

/** Publishes on a share that BMCs mount: a folder of this host, and the address that it has outside. */
export function sharePublisher(config: Config, protocol: ShareProtocol): Publisher {
  const { baseUrl, sharePath } = checkShare(config, protocol)
  return new Publisher({
    root: sharePath,
    subfolder: '',
    urls: [`${baseUrl.replace(/\/+$/, '')}/${sharePath.replace(/^\/+/, '')}`],
    fileMode: 0o644,
    folderMode: 0o755,
  })
}
