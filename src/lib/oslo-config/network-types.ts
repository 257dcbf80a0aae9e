import { isIPv4, isIPv6 } from 'node:net'
import { invalidValue, isValueError } from './errors.ts'
import { pythonText } from './python-text.ts'
import type { ValueType } from './value-types.ts'

export type IpVersion = 4 | 6

/** As `inet_pton` reads them: no zone, no short IPv4. */
const isAddress = (text: string, version: IpVersion | undefined) =>
  (version !== 6 && isIPv4(text)) || (version !== 4 && isIPv6(text) && !text.includes('%'))

export function ipType(version?: IpVersion): ValueType {
  const allowed = version === undefined ? 'an IPv4 or IPv6 address' : `an IPv${version} address`
  return {
    allowed,
    convert(given) {
      const value = pythonText(given)
      if (!isAddress(value, version)) throw invalidValue(`it must be ${allowed}`)
      return value
    },
  }
}

/** RFC 1123 names; the last label needs a letter or hyphen, so that a mistyped address is no name. */
function hostname(given: unknown, allowed: string, label: RegExp): string {
  let value = pythonText(given)
  if (value === '' || Array.from(value).length > 253) throw invalidValue(`it must be ${allowed}`)
  if (value.endsWith('.')) value = value.slice(0, -1)
  const labels = value.split('.')
  if (!/[a-zA-Z-]/.test(labels.at(-1)!) || !labels.every((part) => label.test(part))) {
    throw invalidValue(`it must be ${allowed}`)
  }
  return value
}

const plainLabel = /^(?!-)[A-Z0-9-]{1,63}(?<!-)\n?$/iu
const labelWithUnderscore = /^(?!-)[A-Z0-9_-]{1,63}(?<!-)\n?$/iu

export const hostnameType: ValueType = {
  allowed: 'a host name',
  convert(value) {
    return hostname(value, this.allowed, plainLabel)
  },
}

function hostType(version: IpVersion | undefined, label: RegExp): ValueType {
  const address = ipType(version)
  const allowed = `a host name or ${address.allowed}`
  return {
    allowed,
    convert(value) {
      try {
        return address.convert(value)
      } catch (error) {
        if (isValueError(error)) return hostname(value, allowed, label)
        throw error
      }
    },
  }
}

export const hostAddressType = (version?: IpVersion) => hostType(version, plainLabel)
/** The same, and a name may hold `_`, as names of services do. */
export const hostDomainType = (version?: IpVersion) => hostType(version, labelWithUnderscore)

const unreserved = 'A-Za-z0-9._~\\-'
const subDelims = "!$&'()*+,;="
const escape = '%[0-9A-Fa-f]{2}'
const pathCharacters = `(?:[${unreserved}${subDelims}:@]|${escape})`
const registeredName = new RegExp(`^(?:${escape}|[${subDelims}${unreserved}])*$`)
const ipFuture = new RegExp(`^\\[v[0-9A-Fa-f]+\\.[${unreserved}${subDelims}:]+\\]$`)
const bracketed = new RegExp(`^\\[([0-9A-Fa-f:.]+)(?:%25(?:[${unreserved}]|${escape})+)?\\]$`)
const authorityParts = new RegExp(
  `^(?:((?:[${unreserved}${subDelims}:]|${escape})+)@)?(\\[[^\\]]*\\]|(?:${escape}|[${subDelims}${unreserved}])*):?([0-9]{1,5})?$`,
)
const path = new RegExp(`^(?:/?${pathCharacters}+(?:/${pathCharacters}*)*|(?:/${pathCharacters}*)*)$`)
const uriParts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^\\/?#]*))?([^?#]*)(?:\?[^#]*)?(?:#.*)?/

/** RFC 3986, section 3.2.2. */
function isHost(host: string): boolean {
  if (/^(?:[0-9]{1,3}\.){3}[0-9]{1,3}$/.test(host)) return host.split('.').every((byte) => Number(byte) <= 255)
  const literal = bracketed.exec(host)
  return literal === null ? registeredName.test(host) || ipFuture.test(host) : isIPv6(literal[1]!)
}

/** An absolute URI with scheme and host, as RFC 3986 writes it. */
export function uriType({ maxLength, schemes }: { maxLength?: number; schemes?: readonly string[] } = {}): ValueType {
  const limits = [
    schemes === undefined || schemes.length === 0 ? '' : ` with the scheme ${schemes.join(' or ')}`,
    maxLength === undefined ? '' : ` of at most ${maxLength} characters`,
  ]
  const allowed = `a full URI${limits.join('')}`
  return {
    allowed,
    convert(given) {
      const value = pythonText(given)
      const [, scheme, authority, rest] = uriParts.exec(value) ?? []
      const host = authority === undefined || authority === '' ? undefined : authorityParts.exec(authority)?.[2]
      const fits =
        scheme !== undefined &&
        host !== undefined &&
        isHost(host) &&
        path.test(encodeOutside(rest ?? '')) &&
        (schemes === undefined || schemes.length === 0 || schemes.map((s) => s.toLowerCase()).includes(scheme)) &&
        (maxLength === undefined || Array.from(value).length <= maxLength)
      if (!fits) throw invalidValue(`it must be ${allowed}`)
      return value
    },
  }
}

/** rfc3986 escapes the path before it looks at it, so a blank or an umlaut there is no fault. */
function encodeOutside(text: string): string {
  const percentFine = (text.match(/%/g) ?? []).length === (text.match(/%[0-9A-Fa-f]{2}/g) ?? []).length
  return text.replace(/[^A-Za-z0-9._!~:/?#[\]@$&'()*+,;=%-]|%/gu, (character) =>
    character === '%'
      ? percentFine
        ? '%'
        : '%25'
      : encodeURIComponent(character.isWellFormed() ? character : '\ufffd'),
  )
}
