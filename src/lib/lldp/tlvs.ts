/**
 * LLDP TLVs (802.1AB-2016, 802.1Q annex D, 802.3 clause 79) to named values, under the names that inspection data has always had.
 */
import { readAddress } from './addresses.ts'
import { readChassisId, readPortId } from './ids.ts'
import { mauTypes, pmdCapabilities } from './mau.ts'
import { LldpError, TlvReader } from './reader.ts'

export const tlvTypes = { chassisId: 1, portId: 2, systemName: 5 } as const

/** 802.1AB: the length field of a TLV has nine bits. */
const longestValue = 511

export type LldpValues = Record<string, unknown>

interface TlvParser {
  /** the exact length, where the layout has no room for another */
  readonly length?: number
  readonly read: (reader: TlvReader, values: LldpValues, octets: Buffer) => void
}

/** The first TLV of a kind wins. */
function set(values: LldpValues, name: string, value: unknown): void {
  if (!(name in values)) values[name] = value
}

function append(values: LldpValues, name: string, value: unknown): void {
  const list = (values[name] ??= []) as unknown[]
  list.push(value)
}

const single =
  (name: string, read: (reader: TlvReader) => unknown): TlvParser['read'] =>
  (reader, values) =>
    set(values, name, read(reader))

/** Bit of the system capabilities word, and the name it goes by; 802.1AB table 8-4. */
const systemCapabilities = [
  [1 << 1, 'Repeater'],
  [1 << 2, 'Bridge'],
  [1 << 3, 'WLAN'],
  [1 << 4, 'Router'],
  [1 << 5, 'Telephone'],
  [1 << 6, 'DOCSIS cable device'],
  [1 << 7, 'Station only'],
  [1 << 8, 'C-Vlan'],
  [1 << 9, 'S-Vlan'],
  [1 << 10, 'TPMR'],
] as const

const capabilityNames = (word: number) =>
  systemCapabilities.filter(([bit]) => (word & bit) !== 0).map(([, name]) => name)

const linkAggregation: TlvParser = {
  length: 5,
  read(reader, values) {
    const status = reader.u8()
    set(values, 'switch_port_link_aggregation_enabled', (status & 2) !== 0)
    set(values, 'switch_port_link_aggregation_support', (status & 1) !== 0)
    set(values, 'switch_port_link_aggregation_id', reader.u32())
  },
}

const dot1: Readonly<Record<number, TlvParser>> = {
  1: { read: single('switch_port_untagged_vlan_id', (reader) => reader.u16()) },
  2: {
    length: 3,
    read(reader, values) {
      const flags = reader.u8()
      set(values, 'switch_port_protocol_vlan_enabled', (flags & 4) !== 0)
      set(values, 'switch_port_protocol_vlan_support', (flags & 2) !== 0)
      append(values, 'switch_port_protocol_vlan_ids', reader.u16())
    },
  },
  3: {
    read(reader, values) {
      const id = reader.u16()
      const name = reader.text(reader.u8()).replace(/\0+$/, '')
      append(values, 'switch_port_vlans', { name, id })
    },
  },
  4: {
    read: (reader, values) => append(values, 'switch_protocol_identities', reader.take(reader.u8()).toString('hex')),
  },
  6: { read: single('switch_port_management_vlan_id', (reader) => reader.u16()) },
  7: linkAggregation,
}

const dot3: Readonly<Record<number, TlvParser>> = {
  1: {
    length: 5,
    read(reader, values) {
      const autonegotiation = reader.u8()
      const capabilities = pmdCapabilities(reader.u16())
      const index = reader.u16()
      const type = mauTypes[index]
      if (type === undefined) throw new LldpError(`${index} is no MAU type`)
      set(values, 'switch_port_autonegotiation_enabled', (autonegotiation & 2) !== 0)
      set(values, 'switch_port_autonegotiation_support', (autonegotiation & 1) !== 0)
      set(values, 'switch_port_physical_capabilities', capabilities)
      set(values, 'switch_port_mau_type', type)
    },
  },
  // moved to 802.1 long ago, still sent
  3: linkAggregation,
  4: { read: single('switch_port_mtu', (reader) => reader.u16()) },
}

const organizations: Readonly<Record<string, Readonly<Record<number, TlvParser>>>> = { '0080c2': dot1, '00120f': dot3 }

const nothing: TlvParser = { read: () => {} }

const basic: Readonly<Record<number, TlvParser>> = {
  0: nothing,
  1: { read: (_reader, values, octets) => set(values, 'switch_chassis_id', known(readChassisId(octets))) },
  2: { read: (_reader, values, octets) => set(values, 'switch_port_id', known(readPortId(octets))) },
  3: nothing,
  4: { read: single('switch_port_description', (reader) => reader.text()) },
  5: { read: single('switch_system_name', (reader) => reader.text()) },
  6: { read: single('switch_system_description', (reader) => reader.text()) },
  7: {
    length: 4,
    read(reader, values) {
      set(values, 'switch_capabilities_support', capabilityNames(reader.u16()))
      set(values, 'switch_capabilities_enabled', capabilityNames(reader.u16()))
    },
  },
  8: {
    read(reader, values) {
      reader.u8() // the length of the address, which its family tells as well
      const address = readAddress(reader)
      if (address !== null) append(values, 'switch_mgmt_addresses', address)
    },
  },
  127: {
    read(reader, values, octets) {
      const parser = organizations[reader.take(3).toString('hex')]?.[reader.u8()]
      // a frame begins with chassis and port: what stands before them belongs to nobody
      if (parser !== undefined && Object.keys(values).length > 0) parse(parser, octets.subarray(4), values)
    },
  },
}

/** An identifier of an unknown subtype has no value to show. */
function known({ kind, value }: { kind: string | null; value: string | null }): string | null {
  if (kind === null) throw new UnknownSubtype('the subtype of the identifier is not one of 802.1AB')
  return value
}

/** The TLV is of a kind that nobody can read: worse than a malformed one, since the sender follows another standard. */
export class UnknownSubtype extends Error {
  override readonly name = 'UnknownSubtype'
}

function parse(parser: TlvParser, octets: Buffer, values: LldpValues): void {
  if (octets.length > longestValue) throw new LldpError(`${octets.length} octets, ${longestValue} are allowed`)
  if (parser.length !== undefined && octets.length !== parser.length)
    throw new LldpError(`${octets.length} octets, ${parser.length} expected`)
  parser.read(new TlvReader(octets), values, octets)
}

/**
 * Adds what a TLV says to `values`; a type that is not known adds nothing.
 * @throws LldpError when the TLV is malformed
 */
export function readTlv(type: number, octets: Buffer, values: LldpValues): void {
  const parser = basic[type]
  if (parser !== undefined) parse(parser, octets, values)
}
