/** What `/` and `/v1` tell: versions, and links to the resources that the version has. */
import { IronicError } from '../errors/define.ts'
import { MAXIMUM_MINOR, MINIMUM_MINOR, versionText } from './microversions.ts'
import { linksOf } from './links.ts'

/** Resources that `/v1` links to, with the version that brought each. */
const linked = {
  chassis: 1,
  nodes: 1,
  ports: 1,
  drivers: 1,
  portgroups: 23,
  volume: 32,
  lookup: 22,
  heartbeat: 22,
  conductors: 49,
  allocations: 52,
  events: 54,
  deploy_templates: 55,
  shards: 82,
  runbooks: 92,
  inspection_rules: 96,
  continue_inspection: 84,
} as const

const currentVersion = (url: string) => ({
  id: 'v1',
  links: [{ href: `${url}/v1/`, rel: 'self' }],
  status: 'CURRENT',
  min_version: versionText(MINIMUM_MINOR),
  version: versionText(MAXIMUM_MINOR),
})

const root = (url: string) => ({
  name: 'OpenStack Ironic API',
  description: 'Provisions and manages bare metal machines.',
  default_version: currentVersion(url),
  versions: [currentVersion(url)],
})

const v1 = (url: string, minor: number) => ({
  id: 'v1',
  links: [
    { href: `${url}/v1/`, rel: 'self' },
    {
      href: 'https://docs.openstack.org//ironic/latest/contributor//webapi.html',
      rel: 'describedby',
      type: 'text/html',
    },
  ],
  media_types: { base: 'application/json', type: 'application/vnd.openstack.ironic.v1+json' },
  version: currentVersion(url),
  ...Object.fromEntries(
    Object.entries(linked)
      .filter(([, since]) => minor >= since)
      .map(([name]) => [name, linksOf(url, name, '')]),
  ),
})

/** @throws a refusal of 405 for what changes something at `/v1`; `/` answers every method alike */
export function discovery(atRoot: boolean, method: string, url: string, minor: number): unknown {
  if (atRoot) return root(url)
  if (method !== 'GET' && method !== 'HEAD') {
    throw new IronicError('This path can only be read.', { code: 405 })
  }
  return v1(url, minor)
}
