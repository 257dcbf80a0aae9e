import { statSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import type { Config } from '../../config/index.ts'
import { booleanFrom } from '../../domain/booleans.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import type { AuthType } from '../../lib/redfish/client.ts'
import type { VerifyCa } from '../../lib/redfish/transport.ts'
import type { Node } from '../../objects/index.ts'

/** What `driver_info` says of a node's BMC, checked. */
export interface BmcInfo {
  /** scheme and authority */
  readonly address: string
  /** path of the service root where it is not the usual one */
  readonly rootPrefix: string
  /** path of the system; null: the only one that the BMC has */
  readonly systemId: string | null
  readonly username: string | null
  readonly password: string | null
  readonly verifyCa: VerifyCa
  readonly authType: AuthType
  readonly tlsMinimumVersion: string | null
  readonly tlsCiphers: string | null
}

/** `driver_info` keys of everything that talks Redfish, as `GET /v1/drivers/redfish/properties` shows them. */
export const redfishProperties = {
  redfish_address:
    'Address of the BMC, with scheme and authority (https://mgmt.example.com); https is taken when the scheme is left out. A path is taken as the prefix of the service root. Required.',
  redfish_system_id:
    'Path of the ComputerSystem resource, for example /redfish/v1/Systems/1. Needed only when the BMC has several systems. Optional.',
  redfish_username: 'User of the BMC with the rights of an administrator or server profile. Optional, recommended.',
  redfish_password: 'Password of that user. Optional, recommended.',
  redfish_verify_ca:
    'Whether the certificate of the BMC is checked: true, false, or the path of a CA bundle or of a folder of CA certificates. Default: true. Optional.',
  redfish_auth_type: 'How to log in: "basic", "session" or "auto". Default: [redfish]auth_type. Optional.',
  firmware_update_unresponsive_bmc_wait:
    'Seconds to wait after a firmware update during which the BMC may not answer. Default: [redfish]firmware_update_wait_unresponsive_bmc. Optional.',
  redfish_tls_minimum_version:
    'Oldest TLS version to accept from the BMC: "1.1", "1.2" or "1.3". Default: [redfish]tls_minimum_version. Optional.',
  redfish_tls_ciphers: 'OpenSSL cipher list for connections to the BMC. Default: [redfish]tls_ciphers. Optional.',
} as const

const authTypes: readonly unknown[] = ['basic', 'session', 'auto']
const tlsVersions: readonly unknown[] = ['1.1', '1.2', '1.3']

/**
 * Checks `driver_info` of a node, touching no hardware.
 * @throws MissingParameterValue without an address, InvalidParameterValue naming the key
 */
export function parseDriverInfo(node: Node, config: Config): BmcInfo {
  const info = node.driver_info ?? {}
  if (!info['redfish_address'])
    throw new MissingParameterValue(
      `driver_info of node ${node.uuid} lacks redfish_address; set it to the address of its BMC.`,
    )
  return {
    ...address(node, info['redfish_address']),
    systemId: systemId(node, info['redfish_system_id']),
    username: textOrNull(node, info, 'redfish_username'),
    password: textOrNull(node, info, 'redfish_password'),
    verifyCa: verifyCa(node, info['redfish_verify_ca'], config),
    authType: authType(node, info['redfish_auth_type'], config),
    ...tls(node, info, config),
  }
}

const wrong = (node: Node, key: string, value: unknown, wanted: string) =>
  new InvalidParameterValue(
    `${key} in driver_info of node ${node.uuid} is ${JSON.stringify(value) ?? String(value)}; it must be ${wanted}.`,
  )

/** Scheme, authority, path (RFC 3986 appendix B). */
const uri = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/
const authority = /^(\[[0-9A-Fa-f:.]+(?:%25[A-Za-z0-9._~-]+)?\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(?::(\d{0,5}))?$/
const pathCharacters = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/

function address(node: Node, given: unknown): { address: string; rootPrefix: string } {
  const refuse = () => wrong(node, 'redfish_address', given, 'an address such as https://mgmt.example.com')
  if (typeof given !== 'string') throw refuse()
  const bare = isIPv6(given) ? `[${given}]` : given
  let parts = uri.exec(bare)
  if (parts?.[1] !== undefined && parts[2] === '') throw refuse()
  if (parts?.[1] === undefined || !parts[2]) parts = uri.exec(`https://${bare}`)
  const [, scheme, host, path = ''] = parts ?? []
  if (scheme === undefined || !host || !['http', 'https'].includes(scheme.toLowerCase())) throw refuse()
  if (!authority.test(host) || !pathCharacters.test(path)) throw refuse()
  const parsed = URL.parse(`${scheme}://${host}`)
  if (parsed === null) throw refuse()
  return { address: parsed.origin, rootPrefix: path }
}

function systemId(node: Node, given: unknown): string | null {
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string') throw wrong(node, 'redfish_system_id', given, 'a path such as /redfish/v1/Systems/1')
  return quotePath(given)
}

/** Percent-encodes all but unreserved characters and the slash, as the path of the system is sent. */
const quotePath = (path: string): string =>
  path
    .toWellFormed()
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/')

function textOrNull(node: Node, info: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = info[key]
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string')
    throw new InvalidParameterValue(`${key} in driver_info of node ${node.uuid} must be a text.`)
  return value
}

function verifyCa(node: Node, given: unknown, config: Config): VerifyCa {
  const usual = given === undefined || given === null || given === true
  const value: unknown = usual ? (config.redfish.verify_ca ?? given ?? true) : given
  if (typeof value === 'boolean') return value
  const wanted = 'true, false, or the path of a file or folder with CA certificates'
  if (typeof value !== 'string') throw wrong(node, 'redfish_verify_ca', value, wanted)
  const found = statSync(value, { throwIfNoEntry: false })
  if (found !== undefined && (found.isFile() || found.isDirectory())) return value
  const decided = booleanFrom(value)
  if (decided === undefined) throw wrong(node, 'redfish_verify_ca', value, wanted)
  return decided
}

function authType(node: Node, given: unknown, config: Config): AuthType {
  const value = given === undefined ? config.redfish.auth_type : given
  if (!authTypes.includes(value)) throw wrong(node, 'redfish_auth_type', value, '"basic", "session" or "auto"')
  return value as AuthType
}

function tls(node: Node, info: Readonly<Record<string, unknown>>, config: Config) {
  const version =
    'redfish_tls_minimum_version' in info ? info['redfish_tls_minimum_version'] : config.redfish.tls_minimum_version
  if (version && !tlsVersions.includes(version))
    throw wrong(node, 'redfish_tls_minimum_version', version, '"1.1", "1.2" or "1.3"')
  const ciphers = 'redfish_tls_ciphers' in info ? info['redfish_tls_ciphers'] : config.redfish.tls_ciphers
  if (ciphers && typeof ciphers !== 'string')
    throw wrong(node, 'redfish_tls_ciphers', ciphers, 'an OpenSSL cipher list')
  return {
    tlsMinimumVersion: version ? (version as string) : null,
    tlsCiphers: typeof ciphers === 'string' && ciphers !== '' ? ciphers : null,
  }
}
