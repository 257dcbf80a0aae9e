/** The static network configuration of a node (`network_data`): Nova's format, checked part by part. */

type Problem = string | null
type Check = (value: unknown, where: string) => Problem

const text: Check = (value, where) => (typeof value === 'string' ? null : `${where} must be text`)
const like =
  (pattern: RegExp, what: string): Check =>
  (value, where) =>
    typeof value === 'string' && pattern.test(value) ? null : `${where} must be ${what}`
const oneOf =
  (...words: readonly string[]): Check =>
  (value, where) =>
    typeof value === 'string' && words.includes(value) ? null : `${where} must be one of ${words.join(', ')}`
const integer: Check = (value, where) => (Number.isInteger(value) ? null : `${where} must be an integer`)
const mtu: Check = (value, where) =>
  value === null || (typeof value === 'number' && value >= 1 && value <= 65535)
    ? null
    : `${where} must be between 1 and 65535`

const list =
  (item: Check): Check =>
  (value, where) => {
    if (!Array.isArray(value)) return `${where} must be a list`
    for (const [index, member] of value.entries()) {
      const problem = item(member, `${where}[${index}]`)
      if (problem !== null) return problem
    }
    return null
  }
/** An object with at least the members in `required`; others than these are not looked at. */
const object =
  (members: Readonly<Record<string, Check>>, required: readonly string[]): Check =>
  (value, where) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${where} must be an object`
    for (const name of required) if (!Object.hasOwn(value, name)) return `${where} lacks ${name}`
    for (const [name, check] of Object.entries(members)) {
      const problem = Object.hasOwn(value, name)
        ? check((value as Record<string, unknown>)[name], `${where}.${name}`)
        : null
      if (problem !== null) return problem
    }
    return null
  }
const either =
  (...checks: readonly Check[]): Check =>
  (value, where) => {
    const problems = checks.map((check) => check(value, where))
    return problems.includes(null) ? null : (problems[0] ?? null)
  }
/** Exactly one of them must fit, as JSON Schema's `oneOf`. */
const exactlyOne =
  (...checks: readonly Check[]): Check =>
  (value, where) => {
    const problems = checks.map((check) => check(value, where))
    const fitting = problems.filter((problem) => problem === null).length
    return fitting === 1 ? null : fitting > 1 ? `${where} is ambiguous` : (problems[0] ?? null)
  }

const patterns = {
  mac: /^([0-9A-F]{2}[:-]){5}([0-9A-F]{2})$/i,
  ipv4Host: /^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$/,
  ipv6Host:
    /^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:)|fe80:(:[0-9a-fA-F]{0,4}){0,4}%[0-9a-zA-Z]{1,}|::(ffff(:0{1,4}){0,1}:){0,1}((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])|([0-9a-fA-F]{1,4}:){1,4}:((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9]))(\/[0-9]{1,2})?$/,
  ipv4Netmask:
    /^(254|252|248|240|224|192|128|0)\.0\.0\.0|255\.(254|252|248|240|224|192|128|0)\.0\.0|255\.255\.(254|252|248|240|224|192|128|0)\.0|255\.255\.255\.(254|252|248|240|224|192|128|0)$/,
  ipv6Netmask:
    /^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7})|(::))$/,
  ipv4Network:
    /^(([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])\.){3}([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$/,
  ipv6Network:
    /^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7})|(::))$/,
  ipv4Gateway: /^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$/,
  ipv6Gateway:
    /^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:)|fe80:(:[0-9a-fA-F]{0,4}){0,4}%[0-9a-zA-Z]{1,}|::(ffff(:0{1,4}){0,1}:){0,1}((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])|([0-9a-fA-F]{1,4}:){1,4}:((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9]))$/,
}

const mac = like(patterns.mac, 'a MAC address')
const link = { id: text, mtu, vif_id: text }
const physicalLink = object(
  {
    ...link,
    ethernet_mac_address: mac,
    type: oneOf('bridge', 'dvs', 'hw_veb', 'hyperv', 'ovs', 'tap', 'vhostuser', 'vif', 'phy'),
  },
  ['ethernet_mac_address', 'id', 'type'],
)
const bond = object(
  {
    ...link,
    ethernet_mac_address: mac,
    type: oneOf('bond'),
    bond_mode: oneOf(
      '802.3ad',
      'balance-rr',
      'active-backup',
      'balance-xor',
      'broadcast',
      'balance-tlb',
      'balance-alb',
    ),
    bond_links: list(text),
  },
  ['ethernet_mac_address', 'id', 'type', 'bond_mode', 'bond_links'],
)
const vlan = object({ ...link, vlan_mac_address: mac, type: oneOf('vlan'), vlan_id: integer, vlan_link: text }, [
  'vlan_mac_address',
  'id',
  'type',
  'vlan_link',
  'vlan_id',
])

const service = (host: Check) => object({ address: host, type: oneOf('dns') }, ['address', 'type'])
const ipv4Host = like(patterns.ipv4Host, 'an IPv4 address')
const ipv6Host = like(patterns.ipv6Host, 'an IPv6 address')

function network(family: 4 | 6): Check {
  const v4 = family === 4
  const host = v4 ? ipv4Host : ipv6Host
  const netmask = like(v4 ? patterns.ipv4Netmask : patterns.ipv6Netmask, 'a network mask')
  const route = object(
    {
      network: like(v4 ? patterns.ipv4Network : patterns.ipv6Network, 'a network address'),
      netmask,
      gateway: like(v4 ? patterns.ipv4Gateway : patterns.ipv6Gateway, 'the address of a gateway'),
      services: list(service(host)),
    },
    ['gateway', 'netmask', 'network'],
  )
  return object(
    {
      id: text,
      link: text,
      network_id: text,
      type: v4 ? oneOf('ipv4', 'ipv4_dhcp') : oneOf('ipv6', 'ipv6_dhcp', 'ipv6_slaac'),
      ip_address: host,
      netmask,
      routes: list(route),
    },
    ['id', 'link', 'network_id', 'type'],
  )
}

const networkData = object(
  {
    links: list(exactlyOne(physicalLink, bond, vlan)),
    networks: list(exactlyOne(network(4), network(6))),
    services: list(either(service(ipv4Host), service(ipv6Host))),
  },
  ['links', 'networks', 'services'],
)

/** What is wrong with a network configuration, or null. */
export const networkDataProblem = (value: unknown): Problem => networkData(value, 'network_data')
