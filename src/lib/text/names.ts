import { isIPv6 } from 'node:net'

const unreserved = /^[A-Za-z0-9\-._~]+$/
const hostname = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9\-_]{0,62}[a-z0-9])*\.?$/

/** A logical name: RFC 3986 unreserved characters, 255 at most. */
export const isLogicalName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && unreserved.test(value)

/** A host name as Ironic's API demanded it below 1.10. */
export const isHostnameSafe = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && hostname.test(value)

/** A MAC address with colons, in lower case; undefined when it is none. */
export function normalMac(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const mac = value.toLowerCase()
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(mac) ? mac : undefined
}

/** An OpenFlow datapath id (16 hexadecimal digits), in lower case; undefined when it is none. */
export function normalDatapathId(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const id = value.toLowerCase()
  return /^[0-9a-f]{16}$/.test(id) ? id : undefined
}

/** Host and port of `host`, `host:port`, `[ipv6]:port` or a bare IPv6 address; undefined when there is no host or a bad port. */
export function hostAndPort(value: string): { host: string; port: number | null } | undefined {
  const escaped = /^\[([^\]]*)\](?::(.*))?$/.exec(value)
  let host = value
  let port: string | undefined
  if (escaped !== null) [, host = '', port] = escaped
  else if (value.startsWith('[')) return undefined
  else if (value.split(':').length === 2) [host = '', port] = value.split(':')
  else if (value.includes(':') && !isIPv6(value) && value.split(':').length < 3) return undefined
  if (host === '') return undefined
  if (port === undefined) return { host, port: null }
  return /^\s*[+-]?\d+\s*$/.test(port) ? { host, port: Number(port) } : undefined
}
