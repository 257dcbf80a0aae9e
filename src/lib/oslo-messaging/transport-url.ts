/** `rabbit://user:password@host:port[,user:password@host:port…]/virtual-host[?option=value]`, as oslo.messaging's TransportURL. */

export interface BrokerAddress {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: string
}

export interface TransportUrl {
  readonly transport: string
  readonly hosts: readonly BrokerAddress[]
  readonly virtualHost: string
  /** they stand above the options of the file */
  readonly query: Readonly<Record<string, string>>
}

const defaultPort = 5672
const tlsPort = 5671

const hostPattern = /^(?:(?<user>[^:@]*)(?::(?<password>[^@]*))?@)?(?<host>\[[^\]]+\]|[^:[\]]*)(?::(?<port>\d+))?$/

/**
 * @param useTls whether the stock port is that of AMQP over TLS
 * @throws Error that says what is wrong; the password is not in it
 */
export function parseTransportUrl(url: string, useTls = false): TransportUrl {
  const match = /^(?<scheme>[a-z0-9+.-]+):\/\/(?<hosts>[^/?]*)(?:\/(?<vhost>[^?]*))?(?:\?(?<query>.*))?$/i.exec(url)
  if (match?.groups === undefined)
    throw new Error('transport_url is not of the form rabbit://user:password@host:port/virtual-host.')
  const { scheme = '', hosts = '', vhost, query = '' } = match.groups
  const transport = scheme.toLowerCase()
  if (transport !== 'rabbit' && transport !== 'amqp' && transport !== 'kombu')
    throw new Error(`transport_url: ${transport}:// is not supported; use rabbit://.`)
  const addresses = hosts.split(',').map((part) => {
    const found = hostPattern.exec(part)?.groups
    if (found === undefined) throw new Error('transport_url: a host is not of the form user:password@host:port.')
    return {
      host: (found['host'] ?? '').replace(/^\[|\]$/g, '') || 'localhost',
      port: found['port'] === undefined ? (useTls ? tlsPort : defaultPort) : Number(found['port']),
      username: decodeURIComponent(found['user'] ?? 'guest'),
      password: decodeURIComponent(found['password'] ?? 'guest'),
    }
  })
  return {
    transport,
    hosts: addresses,
    virtualHost: vhost === undefined || vhost === '' ? '/' : decodeURIComponent(vhost),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}
