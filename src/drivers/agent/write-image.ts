import type { Config } from '../../config/index.ts'
import { bootModeOf } from '../../domain/boot-mode.ts'
import { instanceCapabilities } from '../../domain/capabilities.ts'
import type { Step } from '../../domain/steps.ts'
import { credentialsAllowed } from '../../images/credentials.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { internal } from './internal-info.ts'

/** Fields of `instance_info` that an agent needs for a partition image. */
const partitionFields = [
  'kernel',
  'ramdisk',
  'root_gb',
  'root_mb',
  'swap_mb',
  'ephemeral_mb',
  'ephemeral_format',
  'configdrive',
  'preserve_ephemeral',
  'image_type',
  'deploy_boot_mode',
]

/**
 * The agent's `write_image` step.
 * @param configdrive base64 of a gzipped ISO, a URL, or null
 */
export function writeImageStep(node: Node, configdrive: unknown, config: Config): Partial<Step> {
  const imageInfo = { ...commonInfo(node, config), ...partitionInfo(node, config) }
  if (configdrive) imageInfo['configdrive'] = configdrive
  return { interface: 'deploy', step: 'write_image', args: { image_info: imageInfo, configdrive: configdrive ?? null } }
}

function commonInfo(node: Node, config: Config): JsonDict {
  const info: JsonDict = node.instance_info ?? {}
  const url = String(info['image_url'])
  const { deploy } = config
  const image: JsonDict = {
    id: String(info['image_source']).split('/').at(-1),
    urls: [url],
    disk_format: info['image_disk_format'] ?? null,
    container_format: info['image_container_format'] ?? null,
    stream_raw_images: config.agent.stream_raw_images,
  }
  if (deploy.image_server_auth_strategy !== 'noauth' && credentialsAllowed(url, deploy)) {
    image['image_server_auth_strategy'] = deploy.image_server_auth_strategy
    image['image_server_user'] = deploy.image_server_user
    image['image_server_password'] = deploy.image_server_password
  }
  if (info['image_checksum']) image['checksum'] = info['image_checksum']
  if (info['image_os_hash_algo'] && info['image_os_hash_value']) {
    image['os_hash_algo'] = info['image_os_hash_algo']
    image['os_hash_value'] = info['image_os_hash_value']
  }
  const authorization: unknown = info['image_request_authorization_secret']
  if (typeof authorization === 'string' && authorization !== '') {
    image['image_request_authorization'] = Buffer.from(authorization).toString('base64')
  }
  return { ...image, ...proxyInfo(node), node_uuid: node.uuid }
}

function proxyInfo(node: Node): JsonDict {
  const { image_http_proxy: http, image_https_proxy: https, image_no_proxy: noProxy } = node.driver_info ?? {}
  const proxies = { ...(http ? { http: http as string } : {}), ...(https ? { https: https as string } : {}) }
  if (Object.keys(proxies).length === 0) return {}
  return noProxy === undefined || noProxy === null ? { proxies } : { proxies, no_proxy: noProxy as string }
}

function partitionInfo(node: Node, config: Config): JsonDict {
  if (internal(node, 'is_whole_disk_image')) return {}
  const info: JsonDict = {}
  for (const name of partitionFields) info[name] = node.instance_info?.[name] ?? null
  const bootMode = bootModeOf(node, config.deploy.default_boot_mode)
  info['deploy_boot_mode'] = bootMode
  info['boot_option'] = 'local'
  const label = instanceCapabilities(node)['disk_label'] ?? (bootMode === 'uefi' ? 'gpt' : undefined)
  if (label !== undefined) info['disk_label'] = label
  return info
}
