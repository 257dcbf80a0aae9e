import { ClientSideError, InvalidParameterValue } from '../errors/base.ts'
import { pythonJson } from '../lib/python/json-text.ts'

/** What a user may give to build a config drive from. */
export interface ConfigDriveData {
  meta_data?: Record<string, unknown>
  user_data?: unknown
  network_data?: Record<string, unknown>
  vendor_data?: Record<string, unknown>
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'

const allowedFields: Readonly<Record<string, { check: (value: unknown) => boolean; must: string }>> = {
  meta_data: { check: isObject, must: 'an object' },
  network_data: { check: isObject, must: 'an object' },
  vendor_data: { check: isObject, must: 'an object' },
  user_data: {
    check: (value) => value === null || isText(value) || typeof value === 'object',
    must: 'text, an object, a list or null',
  },
}

/** Microversions. */
const withRebuild = 35
const asObject = 56
const withVendorData = 59

/** Nothing given, as Python takes it. */
const isNothing = (value: unknown) => !value || (typeof value === 'object' && Object.keys(value).length === 0)

/**
 * Checks a config drive that comes with a provision request: an address, base64, or an object to build one from.
 * @param target the provision verb; a config drive belongs to a deploy or, since 1.35, to a rebuild
 * @throws ClientSideError 400
 */
export function checkConfigDrive(configdrive: unknown, target: string, minor: number): void {
  if (isNothing(configdrive)) return
  const targets = minor >= withRebuild ? ['active', 'rebuild'] : ['active']
  const refuse = (message: string) => new ClientSideError(message, { code: 400 })
  if (!targets.includes(target)) {
    throw refuse(`A config drive can only be given with the target ${targets.join(' or ')}, not with ${target}.`)
  }
  if (isObject(configdrive)) {
    checkFields(configdrive, refuse)
    if (minor < asObject) throw refuse('A config drive as an object needs API version 1.56 or newer.')
    if ('vendor_data' in configdrive && minor < withVendorData) {
      throw refuse('vendor_data in a config drive needs API version 1.59 or newer.')
    }
    return
  }
  if (typeof configdrive !== 'string') throw refuse('A config drive must be an object, a URL or base64 text.')
  if (configdrive.includes('://') || /^[A-Za-z0-9+/=\n\r\t ]*$/.test(configdrive)) return
  throw refuse('The config drive is neither an object, nor a URL, nor base64 text.')
}

function checkFields(configdrive: Record<string, unknown>, refuse: (message: string) => Error): void {
  for (const [name, value] of Object.entries(configdrive)) {
    const field = allowedFields[name]
    if (field === undefined) {
      throw refuse(`A config drive has no ${name}; it may have ${Object.keys(allowedFields).join(', ')}.`)
    }
    if (!field.check(value)) throw refuse(`${name} of a config drive must be ${field.must}.`)
  }
}

/** Versions of the metadata format; the content is the same. */
const versions = ['2012-08-10', 'latest']

/**
 * The files of a config drive, by path.
 * @throws InvalidParameterValue when `meta_data` or `user_data` is of a kind that makes no file
 */
export function configDriveFiles(
  node: { uuid: string | null; name: string | null },
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const meta = 'meta_data' in given ? given['meta_data'] : {}
  if (!isObject(meta)) throw new InvalidParameterValue('meta_data of a config drive must be an object.')
  const metadata: Record<string, unknown> = { ...meta }
  if (!('uuid' in metadata)) metadata['uuid'] = node.uuid
  if (node.name && !('name' in metadata)) metadata['name'] = node.name
  const files: Record<string, string> = { 'meta_data.json': pythonJson(metadata) }
  if (!isNothing(given['network_data'])) files['network_data.json'] = pythonJson(given['network_data'])
  if (!isNothing(given['vendor_data'])) files['vendor_data2.json'] = pythonJson(given['vendor_data'])
  const userData = userDataText(given['user_data'])
  if (userData !== '') files['user_data'] = userData
  const tree: Record<string, string> = {}
  for (const version of versions) {
    for (const [name, text] of Object.entries(files)) tree[`openstack/${version}/${name}`] = text
  }
  return tree
}

function userDataText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null) return pythonJson(value)
  if (!value) return ''
  throw new InvalidParameterValue('user_data of a config drive must be text, an object or a list.')
}

/**
 * Does network data tell nothing, or have a link without an MTU (which cloud-init takes for an error)?
 * @param checkMtu false with `[conductor]disable_metadata_mtu_check`
 */
export function networkDataIsInvalid(networkData: unknown, checkMtu: boolean): boolean {
  if (!isObject(networkData)) return true
  const { links, networks, services } = networkData
  if (isNothing(links) && isNothing(networks) && isNothing(services)) return true
  if (!checkMtu || links === undefined) return false
  if (!Array.isArray(links)) return true
  return links.some((link) => !isObject(link) || link['mtu'] === undefined || link['mtu'] === null)
}

export interface AttachedPort {
  readonly id: number
  readonly uuid: string | null
  readonly address: string | null
  readonly portgroup_id?: number | null
  readonly internal_info: Record<string, unknown> | null
}

type Entry = Record<string, unknown>
export interface NetworkData {
  links: Entry[]
  networks: Entry[]
  services: Entry[]
}

export interface BondMember {
  readonly id: string | null
  readonly type: 'phy'
  readonly ethernet_mac_address: string | null
}

/** What the network service knows of a VIF, as links, networks and services of the metadata format. */
export type VifNetworkData = (vif: {
  id: number
  vif: string
  type: 'phy' | 'bond'
  macAddress: string | null
  bondLinks: BondMember[] | null
}) => Promise<NetworkData>

const vifOf = (port: AttachedPort) => {
  const vif = port.internal_info?.['tenant_vif_port_id']
  return typeof vif === 'string' && vif !== '' ? vif : undefined
}

/** Network data made of the VIFs that are attached to a node's ports and portgroups. Links are named iface0, iface1, ... */
export async function networkDataOf(
  ports: readonly AttachedPort[],
  portgroups: readonly Omit<AttachedPort, 'portgroup_id'>[],
  describe: VifNetworkData,
): Promise<NetworkData> {
  const data: NetworkData = { links: [], networks: [], services: [] }
  const add = (more: NetworkData) => {
    data.links.push(...more.links)
    data.networks.push(...more.networks)
    data.services.push(...more.services)
  }
  const bonded = new Map(portgroups.flatMap((group) => (vifOf(group) === undefined ? [] : [[vifOf(group)!, group]])))
  for (const port of ports) {
    const vif = vifOf(port)
    if (vif === undefined || bonded.has(vif)) continue
    add(await describe({ id: port.id, vif, type: 'phy', macAddress: port.address, bondLinks: null }))
  }
  for (const [vif, group] of bonded) {
    const bondLinks = ports
      .filter((port) => port.portgroup_id === group.id)
      .map((port): BondMember => ({ id: port.uuid, type: 'phy', ethernet_mac_address: port.address }))
    add(await describe({ id: group.id, vif, type: 'bond', macAddress: group.address, bondLinks }))
  }
  return renamed(data)
}

/** Some readers take link ids for interface names, so they are short. */
function renamed({ links, networks, services }: NetworkData): NetworkData {
  const names = new Map(links.map((link, index) => [link['id'], `iface${index}`]))
  const nameOf = (id: unknown) => names.get(id) ?? id
  return {
    links: links.map((link) => ({
      ...link,
      id: nameOf(link['id']),
      ...(Array.isArray(link['bond_links']) ? { bond_links: link['bond_links'].map(nameOf) } : {}),
    })),
    networks: networks.map((network) => ({ ...network, link: nameOf(network['link']) })),
    services,
  }
}
