/** `/healthcheck`, as oslo.middleware answers it: open to everybody, before authentication. */
import { existsSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import type { Config } from '../../config/index.ts'

export interface HealthAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

interface Result {
  readonly available: boolean
  readonly reason: string
}

/** What the backends of `[healthcheck]backends` look at. */
const checks: Readonly<Record<string, (config: Config, port: number) => Result>> = {
  disable_by_file: ({ healthcheck: { disable_by_file_path: path } }) =>
    path !== null && path !== '' && existsSync(path) ? down('DISABLED BY FILE') : up,
  disable_by_files_ports: ({ healthcheck: { disable_by_file_paths: entries } }, port) => {
    const entry = entries.find((each) => each.startsWith(`${port}:`))
    return entry !== undefined && existsSync(entry.slice(entry.indexOf(':') + 1)) ? down('DISABLED BY FILE') : up
  },
  enable_by_files: ({ healthcheck: { enable_by_file_paths: paths } }) =>
    paths.every((path) => existsSync(path)) ? up : down('FILE PATH MISSING'),
}
const up: Result = { available: true, reason: 'OK' }
const down = (reason: string): Result => ({ available: false, reason })

const proxyHeaders = ['forwarded', 'forwarded-proto', 'forwarded-host', 'forwarded-for', 'forwarded-prefix']

function isWanted({ healthcheck }: Config, headers: IncomingHttpHeaders, address: string | undefined): boolean {
  if (healthcheck.ignore_proxied_requests && proxyHeaders.some((name) => headers[`x-${name}`] !== undefined))
    return false
  if (healthcheck.allowed_source_ranges.length === 0) return true
  if (address === undefined) return false
  const ranges = new BlockList()
  for (const range of healthcheck.allowed_source_ranges) {
    const [base = '', bits] = range.split('/')
    const family = isIPv6(base) ? 'ipv6' : 'ipv4'
    ranges.addSubnet(base, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return ranges.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

/**
 * The answer; undefined when the request is not for it. Details of the process (`[healthcheck]detailed`) are not told to
 * strangers: the names of the checks are.
 */
export function healthAnswer(
  config: Config,
  {
    path,
    method,
    headers,
    address,
  }: { path: string; method: string; headers: IncomingHttpHeaders; address: string | undefined },
): HealthAnswer | undefined {
  if (!config.healthcheck.enabled || (path !== '/healthcheck' && !path.startsWith('/healthcheck/'))) return undefined
  if (!isWanted(config, headers, address)) return undefined
  const results = config.healthcheck.backends.map(
    (name) => checks[name]?.(config, config.api.port) ?? down(`NO SUCH CHECK: ${name}`),
  )
  const healthy = results.every((result) => result.available)
  if (method === 'HEAD') return { status: healthy ? 204 : 503, contentType: 'text/plain; charset=UTF-8', body: '' }
  const reasons = results.map((result) => result.reason)
  const status = healthy ? 200 : 503
  const accept = headers.accept ?? ''
  if (accept.includes('application/json')) {
    return {
      status,
      contentType: 'application/json; charset=UTF-8',
      body: JSON.stringify({ detailed: false, reasons }, null, 4),
    }
  }
  return { status, contentType: 'text/plain; charset=UTF-8', body: reasons.join('\n') }
}
