import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Node } from '../objects/index.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const isLoopback = (host: string): boolean => {
  const version = isIP(host)
  if (version === 0) return host === 'localhost' || host === 'localhost.localdomain'
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

/** The host in what an operator wrote as the address of a BMC: a URL, a host, a host and port. */
function hostIn(address: string): string {
  if (isIP(address) !== 0) return address
  const url = URL.parse(address.includes('//') ? address : `any://${address}`)
  return (url?.hostname ?? address).replace(/^\[|\]$/g, '')
}

/**
 * Hosts and addresses of the node's BMC, as `driver_info` names them: a ramdisk that tells the BMC's address is known by
 * them. Loopback addresses say nothing, nor do those of a bridge in front of several BMCs.
 */
export async function bmcAddresses(node: Node, log: Logger): Promise<string[]> {
  const info = node.driver_info ?? {}
  const bridged = (info['ipmi_bridging'] ?? 'no') !== 'no'
  const found = new Set<string>()
  for (const [name, value] of Object.entries(info)) {
    if (!name.endsWith('_address') || typeof value !== 'string' || value === '') continue
    if (bridged && name.startsWith('ipmi_')) continue
    const host = hostIn(value)
    let addresses: { address: string }[]
    try {
      addresses = await lookup(host, { all: true })
    } catch (error) {
      log.warning(`${name} of node ${node.uuid} cannot be resolved; its ramdisk is not known by that`, { error })
      continue
    }
    for (const { address } of [...addresses, { address: host }]) if (!isLoopback(address)) found.add(address)
  }
  return [...found].toSorted()
}
