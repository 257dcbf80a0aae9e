import ipaddr from 'ipaddr.js'
import { HardwareInspectionFailure } from '../../errors/index.ts'
import { readChassisId, readPortId } from '../../lib/lldp/ids.ts'
import { decodeText } from '../../lib/lldp/reader.ts'
import { readTlv, tlvTypes, type LldpValues } from '../../lib/lldp/tlvs.ts'
import { LldpError } from '../../lib/lldp/reader.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { badInventory, dictsOf, textOf, type HookInput, type InspectionHook } from './hook.ts'

type Tlv = readonly [type: number, hex: string]

/** The raw TLVs of an interface: those of the agent's LLDP collector first. Null: none came. */
function tlvsOf(input: HookInput, nic: JsonDict): Tlv[] | null {
  const collected = (input.pluginData.lldp_raw ?? {}) as JsonDict
  const own: unknown = collected[textOf(input, nic, 'name')]
  const sent: unknown = Array.isArray(own) && own.length > 0 ? own : nic.lldp
  if (sent === undefined || sent === null) return null
  const isTlv = (item: unknown): item is Tlv => Array.isArray(item) && item.length === 2
  if (!Array.isArray(sent) || !sent.every(isTlv)) throw badInventory(input, `LLDP data of ${nic.name} must be pairs`)
  return sent
}

/** Octets of the hexadecimal text; undefined when it is not one. */
function octetsOf(hex: unknown): Buffer | undefined {
  return typeof hex === 'string' && /^([0-9a-fA-F]{2})*$/.test(hex) ? Buffer.from(hex, 'hex') : undefined
}

/** More interfaces than that do not come from one machine; the rest is not read. */
const mostInterfaces = 64

/** Sets `parsed_lldp` of the plugin data: interface, name, value. */
export const parseLldp: InspectionHook = {
  name: 'parse-lldp',
  run(input) {
    const parsed: Record<string, LldpValues> = {}
    for (const nic of dictsOf(input, 'interfaces').slice(0, mostInterfaces)) {
      const values: LldpValues = {}
      for (const [type, hex] of tlvsOf(input, nic) ?? []) {
        if (typeof type !== 'number' || typeof hex !== 'string') continue
        const octets = octetsOf(hex)
        if (octets === undefined) throw badInventory(input, `LLDP data of ${nic.name} is not hexadecimal`)
        try {
          readTlv(type, octets, values)
        } catch (error) {
          if (!(error instanceof LldpError)) throw error
          input.task.log.warning(`LLDP TLV ${type} of ${nic.name}, node ${input.task.node.uuid}: ${error.message}`)
        }
      }
      if (Object.keys(values).length > 0) parsed[nic.name as string] = values
    }
    if (Object.keys(parsed).length > 0)
      input.pluginData.parsed_lldp = { ...(input.pluginData.parsed_lldp as JsonDict | undefined), ...parsed }
  },
}

/** What a TLV says of the switch port; null: nothing. */
function linkField(type: number, octets: Buffer): [string, string] | null {
  if (type === tlvTypes.portId) {
    const { value } = readPortId(octets)
    return value === null ? null : ['port_id', value]
  }
  if (type === tlvTypes.chassisId) {
    const { kind, value } = readChassisId(octets)
    if (kind === null) throw new HardwareInspectionFailure('the switch sent a chassis id of an unknown kind')
    return kind === 'mac' && value !== null ? ['switch_id', value] : null
  }
  return type === tlvTypes.systemName ? ['switch_info', decodeText(octets)] : null
}

/** `local_link_connection` of the ports, from LLDP; what is set already stays. */
export const localLinkConnection: InspectionHook = {
  name: 'local-link-connection',
  dependencies: ['validate-interfaces'],
  async run(input) {
    const { task, pluginData } = input
    const ports = new Map((await task.ports()).map((port) => [port.address, port]))
    for (const nic of dictsOf(input, 'interfaces')) {
      if (!(textOf(input, nic, 'name') in (pluginData.all_interfaces as JsonDict))) continue
      const port = ports.get(textOf(input, nic, 'mac_address'))
      if (port === undefined) continue
      const tlvs = (tlvsOf(input, nic) ?? []).map(([type, hex]) => [type, octetsOf(hex)] as const)
      if (tlvs.some(([, octets]) => octets === undefined)) continue
      const found: JsonDict = {}
      for (const [type, octets] of tlvs) {
        const field = linkField(type, octets ?? Buffer.alloc(0))
        if (field !== null && !(field[0] in (port.local_link_connection ?? {}))) found[field[0]] = field[1]
      }
      if (Object.keys(found).length === 0) continue
      port.local_link_connection = { ...port.local_link_connection, ...found }
      await task.savePort(port)
    }
  },
}

/** `CIDR:physical network` pairs of the option, in its order. @throws HardwareInspectionFailure when one is malformed */
function networkMap(pairs: readonly string[]): { cidr: ReturnType<typeof ipaddr.parseCIDR>; network: string }[] {
  return pairs.map((pair) => {
    const colon = pair.lastIndexOf(':')
    const text = pair.slice(0, colon)
    try {
      const cidr = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
      const family = cidr[0].kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
      const base = family.networkAddressFromCIDR(`${cidr[0].toString()}/${cidr[1]}`)
      if (base.toString() !== cidr[0].toString()) throw new Error('host bits are set')
      return { cidr, network: pair.slice(colon + 1) }
    } catch (cause) {
      throw new HardwareInspectionFailure(`[inspector]physical_network_cidr_map: "${pair}" is not NETWORK:NAME`, {
        cause,
      })
    }
  })
}

/** `physical_network` of the ports, by the address that the interface had. */
export const physicalNetwork: InspectionHook = {
  name: 'physical-network',
  dependencies: ['validate-interfaces'],
  async run(input) {
    const { task, pluginData } = input
    const ports = new Map((await task.ports()).map((port) => [port.address, port]))
    for (const nic of dictsOf(input, 'interfaces')) {
      if (!(textOf(input, nic, 'name') in (pluginData.all_interfaces as JsonDict))) continue
      const port = ports.get(textOf(input, nic, 'mac_address'))
      if (port === undefined) continue
      const map = networkMap(task.config.inspector.physical_network_cidr_map)
      const addresses = [nic.ipv4_address, nic.ipv6_address].filter(
        (address): address is string => typeof address === 'string' && ipaddr.isValid(address),
      )
      const network = addresses
        .map((address) => ipaddr.parse(address))
        .map((address) => map.find(({ cidr }) => cidr[0].kind() === address.kind() && address.match(cidr))?.network)
        .find((name) => name !== undefined)
      if (network === undefined || port.physical_network === network) continue
      port.physical_network = network
      await task.savePort(port)
    }
  },
}
