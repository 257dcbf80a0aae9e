/** Where clients reach this service: what links and `Location` begin with. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../config/index.ts'

const first = (value: string | string[] | undefined): string | undefined =>
  (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim() || undefined

/** Characters of a host name, an address and a port: a header must not bring anything else into our answers. */
const hostShape = /^[A-Za-z0-9.\-_:[\]%]+$/
const withoutDefaultPort = (scheme: string, host: string): string =>
  scheme === 'http' ? host.replace(/:80$/, '') : host.replace(/:443$/, '')

function forwarded(headers: IncomingHttpHeaders): { scheme?: string; host?: string; prefix?: string } {
  const standard = first(headers['forwarded'])
  if (standard !== undefined) {
    const parts = new Map(
      standard.split(';').map((part) => {
        const [key = '', value = ''] = part.split('=')
        return [key.trim().toLowerCase(), value.trim().replace(/^"|"$/g, '')]
      }),
    )
    return {
      ...(parts.has('proto') ? { scheme: parts.get('proto')! } : {}),
      ...(parts.has('host') ? { host: parts.get('host')! } : {}),
    }
  }
  const scheme = first(headers['x-forwarded-proto'])
  const host = first(headers['x-forwarded-host'])
  const prefix = first(headers['x-forwarded-prefix'])
  return {
    ...(scheme === undefined ? {} : { scheme }),
    ...(host === undefined ? {} : { host }),
    ...(prefix === undefined ? {} : { prefix }),
  }
}

/** @param secure whether the connection itself is TLS */
export function publicUrl(config: Config, headers: IncomingHttpHeaders, secure: boolean): string {
  let scheme = secure ? 'https' : 'http'
  let host = first(headers.host)
  let prefix = ''
  if (config.oslo_middleware.enable_proxy_headers_parsing) {
    const proxy = forwarded(headers)
    if (proxy.scheme === 'http' || proxy.scheme === 'https') scheme = proxy.scheme
    host = proxy.host ?? host
    if (proxy.prefix !== undefined && /^[\w./~-]+$/.test(proxy.prefix)) prefix = proxy.prefix.replace(/\/+$/, '')
  } else if (config.api.public_endpoint) return config.api.public_endpoint.replace(/\/+$/, '')
  if (host === undefined || !hostShape.test(host)) host = `${config.DEFAULT.my_ip}:${config.api.port}`
  return `${scheme}://${withoutDefaultPort(scheme, host)}${prefix}`
}
