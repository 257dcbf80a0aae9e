/** The microversion of a request: what clients send, what is understood, what is sent back. */

export const MINIMUM_MINOR = 1
export const MAXIMUM_MINOR = 115

export const versionHeader = 'x-openstack-ironic-api-version'
export const minimumHeader = 'x-openstack-ironic-api-minimum-version'
export const maximumHeader = 'x-openstack-ironic-api-maximum-version'

export const versionText = (minor: number): string => `1.${minor}`

type Headers = Readonly<Record<string, string | string[] | undefined>>
const headerText = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** The version that a request names (`baremetal 1.80`, `1.80`, `latest`); empty when it names none. */
export function namedVersion(headers: Headers): string {
  const standard = headerText(headers, 'openstack-api-version')
  for (const entry of standard?.split(',').reverse() ?? []) {
    const [, service, version] = /^\s*(\S+)\s+(.+?)\s*$/.exec(entry) ?? []
    if (service?.toLowerCase() === 'baremetal' && version !== undefined) return version
  }
  return headerText(headers, versionHeader)?.split(',').at(-1)?.trim() ?? ''
}

/** `minor` of a version that is served; `refused` tells why a version is not, `understood` whether it is one at all. */
export type Negotiated = { readonly minor: number } | { readonly refused: string; readonly understood: boolean }

/**
 * @param named what `namedVersion` gave
 * @param maximum the newest minor that is served (older when a release is pinned)
 */
export function negotiate(named: string, maximum: number = MAXIMUM_MINOR): Negotiated {
  if (named === '') return { minor: MINIMUM_MINOR }
  if (named.toLowerCase() === 'latest') return { minor: maximum }
  const parts = /^\s*(\d+)\s*\.\s*(\d+)\s*$/.exec(named)
  if (parts === null)
    return {
      understood: false,
      refused: `Invalid value for X-OpenStack-Ironic-API-Version header: ${named.slice(0, 64)}`,
    }
  const [major, minor] = [Number(parts[1]), Number(parts[2])]
  if (major !== 1 || minor < MINIMUM_MINOR || minor > maximum) {
    return {
      understood: true,
      refused:
        `Version ${major}.${minor} is not served here. Ask for a version from ` +
        `${versionText(MINIMUM_MINOR)} to ${versionText(maximum)}, or for "latest".`,
    }
  }
  return { minor }
}
