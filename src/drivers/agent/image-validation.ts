import type { Config } from '../../config/index.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import { isGlanceImage, isOciImage } from '../../images/reference.ts'
import type { Node } from '../../objects/index.ts'

const imageTypes = ['partition', 'whole-disk']
const downloadSources = ['swift', 'http', 'local']

/** Where the agent gets the image: the instance's wish, the node's, the configured. */
export const imageDownloadSource = (node: Node, config: Config): string =>
  String(
    node.instance_info?.['image_download_source'] ||
      node.driver_info?.['image_download_source'] ||
      config.agent.image_download_source,
  )

/**
 * Checks what `instance_info` and `driver_info` say about the image, without a look at the image itself.
 * @throws MissingParameterValue, InvalidParameterValue
 */
export function validateImage(node: Node, config: Config): void {
  const info = node.instance_info ?? {}
  const source: unknown = info['image_source']
  if (typeof source !== 'string' || source === '') {
    throw new MissingParameterValue(`instance_info of node ${node.uuid} lacks image_source.`)
  }
  const type: unknown = info['image_type']
  if (type && !imageTypes.includes(String(type))) {
    throw new InvalidParameterValue(
      `image_type in instance_info of node ${node.uuid} is "${String(type)}", but must be one of ${imageTypes.join(', ')}.`,
    )
  }
  // Glance knows the checksum, a file is hashed here, a manifest is its digest
  if (!isGlanceImage(source) && !source.startsWith('file://') && !isOciImage(source)) requireChecksum(node)
  validateDownloadSource(node, source, config)
  validateProxies(node)
}

function requireChecksum(node: Node): void {
  const { image_checksum, image_os_hash_algo, image_os_hash_value } = node.instance_info ?? {}
  const complete = Boolean(image_os_hash_value) === Boolean(image_os_hash_algo)
  if (complete && (image_os_hash_value || image_checksum)) return
  throw new MissingParameterValue(
    `instance_info of node ${node.uuid} must hold image_checksum, or both image_os_hash_algo and image_os_hash_value.`,
  )
}

/** An image that is served from here needs the options that say how. */
function validateDownloadSource(node: Node, source: string, config: Config): void {
  const from = imageDownloadSource(node, config)
  if (!downloadSources.includes(from)) {
    throw new InvalidParameterValue(
      `image_download_source of node ${node.uuid} is "${from}", but must be one of ${downloadSources.join(', ')}.`,
    )
  }
  const servedHere = source.startsWith('file://') || from === 'local' || (isGlanceImage(source) && from !== 'swift')
  if (!servedHere) return
  const missing = (['http_url', 'http_root', 'http_image_subdir'] as const).filter((name) => !config.deploy[name])
  if (missing.length > 0) {
    throw new MissingParameterValue(
      `The image of node ${node.uuid} is to be served by this conductor, but ${missing.map((name) => `[deploy]${name}`).join(', ')} is not set.`,
    )
  }
}

function validateProxies(node: Node): void {
  for (const name of ['image_http_proxy', 'image_https_proxy']) {
    const proxy: unknown = node.driver_info?.[name]
    if (!proxy) continue
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(String(proxy))?.[1]?.toLowerCase() ?? 'http'
    if (scheme !== 'http' && scheme !== 'https') {
      throw new InvalidParameterValue(
        `${name} of node ${node.uuid} must be a URL with http://, https:// or no scheme, not ${scheme}://.`,
      )
    }
  }
  const noProxy: unknown = node.driver_info?.['image_no_proxy']
  if (noProxy !== undefined && noProxy !== null && !isNoProxyList(noProxy)) {
    throw new InvalidParameterValue(
      `image_no_proxy of node ${node.uuid} must be host names, IP addresses or domains with a leading dot, commas between.`,
    )
  }
}

/** What the agent can put into its `no_proxy` environment. */
export function isNoProxyList(list: unknown): boolean {
  if (typeof list !== 'string') return false
  return list.split(',').every((entry) => {
    let host = entry.trim().split(':')[0]!
    if (host === '') return true
    const domain = host.startsWith('.')
    if (domain) host = host.slice(1)
    if (host.length > (domain ? 251 : 253)) return false
    return host.split('.').every((label) => /^(?!-)[a-z\d-]{1,63}(?<!-)$/i.test(label))
  })
}
