import type { Config } from '../config/index.ts'
import { ImageRefValidationFailed } from '../errors/image.ts'

type DeployOptions = Config['deploy']

/**
 * May the credentials of `[deploy]image_server_*` go to the host of this image? Only hosts of `image_server_auth_hosts`
 * (`.example.com` stands for everything below it); with an empty list `image_server_auth_permit_unknown_hosts` decides.
 */
export function credentialsAllowed(href: string, deploy: DeployOptions): boolean {
  const match = /^(?:https?|oci):\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)/i.exec(href)
  if (match === null) return !/^(?:https?|oci):/i.test(href)
  const { image_server_auth_hosts: hosts, image_server_auth_permit_unknown_hosts: unknownHosts } = deploy
  if (hosts.length === 0) return unknownHosts
  const host = match[1]!.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (host === '') return false
  return hosts.some((entry) => (entry.startsWith('.') ? host.endsWith(entry) : host === entry))
}

/**
 * The `Authorization` header for that URL, or undefined.
 * @throws ImageRefValidationFailed when HTTP Basic is configured without user or password
 */
export function imageAuthorization(href: string, deploy: DeployOptions): string | undefined {
  const url = new URL(href)
  if (url.username !== '') {
    return basic(decodeURIComponent(url.username), decodeURIComponent(url.password))
  }
  if (deploy.image_server_auth_strategy !== 'http_basic' || !credentialsAllowed(href, deploy)) return undefined
  const { image_server_user: user, image_server_password: password } = deploy
  if (!user || !password) {
    throw new ImageRefValidationFailed({
      image_href: withoutPassword(href),
      reason:
        '[deploy]image_server_auth_strategy is http_basic, but image_server_user or image_server_password is not set',
    })
  }
  return basic(user, password)
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** The URL as it may be shown. */
export const withoutPassword = (href: string): string => href.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, '$1')

export interface ImageCredentials {
  readonly username: string
  readonly password: string
}

/** `image_pull_secret` of the instance, else of the driver, else the configured image server's. `user:password` or a token. */
export function pullSecret(
  node: { instance_info: Record<string, unknown> | null; driver_info: Record<string, unknown> | null },
  deploy: DeployOptions,
  userMayGive = true,
): ImageCredentials | null {
  const own = userMayGive ? secretIn(node.instance_info) : null
  const found = own ?? secretIn(node.driver_info)
  if (found !== null) return found
  const { image_server_user: username, image_server_password: password } = deploy
  const source: unknown = node.instance_info?.['image_source'] ?? ''
  return username && password && credentialsAllowed(String(source), deploy) ? { username, password } : null
}

function secretIn(info: Record<string, unknown> | null): ImageCredentials | null {
  const secret = info?.['image_pull_secret']
  if (typeof secret !== 'string' || secret === '') return null
  const colon = secret.indexOf(':')
  if (colon < 0) return { username: '', password: secret }
  return { username: secret.slice(0, colon), password: secret.slice(colon + 1) }
}
