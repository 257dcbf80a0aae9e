import { isIPv6 } from 'node:net'
import type { TlvReader } from './reader.ts'

const formatIpv4 = (octets: Buffer) => octets.join('.')
const formatMac = (octets: Buffer) => octets.toString('hex').replace(/..(?!$)/g, '$&:')

/** RFC 5952 text. An address whose upper 96 bits are zero is shown as IPv4, as the agents' peers have always seen it. */
function formatIpv6(octets: Buffer): string {
  if (octets.subarray(0, 12).every((octet) => octet === 0)) return formatIpv4(octets.subarray(12))
  if (octets.subarray(0, 10).every((octet) => octet === 0) && octets.readUInt16BE(10) === 0xffff)
    return `::ffff:${formatIpv4(octets.subarray(12))}`
  const groups = Array.from({ length: 8 }, (_, i) => octets.readUInt16BE(i * 2).toString(16))
  const zeros = [...groups.join(':').matchAll(/(?:^|:)0(?::0)+(?::|$)/g)].map((match) => match[0])
  const longest = zeros.toSorted((a, b) => b.length - a.length)[0]
  const text = longest === undefined ? groups.join(':') : groups.join(':').replace(longest, '::')
  if (!isIPv6(text)) throw new Error(`${text} is no IPv6 address`)
  return text
}

/** IANA address family numbers that LLDP uses: octets and text form. */
const families: Readonly<Record<number, { length: number; format: (octets: Buffer) => string }>> = {
  1: { length: 4, format: formatIpv4 },
  2: { length: 16, format: formatIpv6 },
  6: { length: 6, format: formatMac },
}

export const readMac = (reader: TlvReader): string => formatMac(reader.take(6))

/** An address after its family octet; null for a family that is not known. */
export function readAddress(reader: TlvReader): string | null {
  const family = families[reader.u8()]
  return family === undefined ? null : family.format(reader.take(family.length))
}
