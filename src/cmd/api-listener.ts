import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, isIP } from 'node:net'
import type { SecureContextOptions, SecureVersion } from 'node:tls'
import { authenticatorFor } from '../api/auth/strategies.ts'
import { configuredAudit } from '../api/audit.ts'
import { PolicyAuthorizer } from '../api/policy-authorizer.ts'
import { createApi } from '../api/server.ts'
import type { Config } from '../config/index.ts'
import type { ConductorRouting } from '../rpc/routing.ts'
import { configuredNotifier } from './messaging/notifications.ts'
import { openAuditSink } from './messaging/audit.ts'
import type { ProcessParts } from './process-parts.ts'
import { CommandFailure } from './run-command.ts'

/** An API that answers. Disposing stops taking requests and lets the running ones finish. */
export interface ListeningApi extends AsyncDisposable {
  /** where it listens, as a URL or the path of a socket */
  readonly address: string
}

/**
 * Starts the API as the groups DEFAULT, api and oslo_policy say.
 *
 * @throws CommandFailure for settings that must not or cannot be used, or what the operating system says
 */
export async function listenApi(
  { config, db, log, clock, loaded }: Pick<ProcessParts, 'config' | 'db' | 'log' | 'clock' | 'loaded'>,
  conductors: ConductorRouting,
): Promise<ListeningApi> {
  await using stack = new AsyncDisposableStack()
  const apiLog = log.named('ironic.api')
  const policy = PolicyAuthorizer.open({
    config,
    log: apiLog,
    find: loaded.findFile,
  })
  const authenticator = await authenticatorFor(config, apiLog)
  stack.defer(() => authenticator.close())
  const notifier = await configuredNotifier(config, 'ironic-api', config.DEFAULT.host, apiLog, () => clock.now())
  stack.defer(() => notifier.close())
  const auditing = stack.use(await openAuditSink(config, apiLog, () => clock.now()))
  const audit = await configuredAudit(config, auditing.sink, () => clock.now())
  const tls = config.api.enable_ssl_api ? tlsOptions(config) : undefined
  const api = createApi({
    config,
    db,
    clock,
    conductors,
    policy,
    authenticator,
    log: apiLog,
    notifier,
    ...(audit === undefined ? {} : { audit }),
    ...(tls === undefined ? {} : { tls }),
  })
  stack.defer(() => api.close())

  const { unix_socket: path, unix_socket_mode: mode, host_ip: host, port } = config.api
  let address: string
  if (path === null || path === '') {
    address = await api.listen({ host, port })
  } else {
    await removeStaleSocket(path)
    address = await api.listen({ path })
    stack.defer(() => rmSync(path, { force: true }))
    if (mode !== null) chmodSync(path, mode)
  }
  apiLog.info(`The API listens at ${address}`)
  const closing = stack.move()
  return { address, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/**
 * Whoever reaches an API without authentication owns every machine; that must not happen by a forgotten option.
 *
 * @throws CommandFailure
 */
export function refuseOpenApi(config: Config): void {
  const { unix_socket, host_ip } = config.api
  if (config.DEFAULT.auth_strategy !== 'noauth' || config.openkeel.allow_noauth_on_any_address) return
  if ((unix_socket !== null && unix_socket !== '') || isLoopback(host_ip)) return
  throw new CommandFailure(
    `The API would answer everybody who reaches ${host_ip}: [DEFAULT]auth_strategy is noauth and [api]host_ip is not a loopback address. ` +
      'Set auth_strategy to http_basic or keystone, or [api]host_ip to 127.0.0.1, or, when something in front of it keeps others out, ' +
      '[openkeel]allow_noauth_on_any_address to true.',
  )
}

const isLoopback = (host: string): boolean =>
  isIP(host) === 4 ? host.startsWith('127.') : ['::1', 'localhost', 'localhost.'].includes(host.toLowerCase())

/** Certificate and key of `[api]`, or of the deprecated group `[ssl]`. */
function tlsOptions(config: Config): SecureContextOptions {
  const { cert_file, key_file, server_tls_minimum_version, server_tls_ciphers } = config.api
  const own = cert_file !== null && key_file !== null
  const certificate = own ? cert_file : config.ssl.cert_file
  const key = own ? key_file : config.ssl.key_file
  if (certificate === null || key === null) {
    throw new CommandFailure(
      '[api]enable_ssl_api is true: set [api]cert_file and [api]key_file to the certificate and its key.',
    )
  }
  return {
    cert: readPem(certificate, 'cert_file'),
    key: readPem(key, 'key_file'),
    minVersion: `TLSv${server_tls_minimum_version}` as SecureVersion,
    ...(server_tls_ciphers === null ? {} : { ciphers: server_tls_ciphers }),
  }
}

function readPem(path: string, option: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new CommandFailure(`[api]${option}: ${path} cannot be read (${(cause as Error).message}).`, { cause })
  }
}

/**
 * Sees that the API's address is free, before a conductor starts: a second service on one host would take the first one's place in
 * the database and its locks.
 *
 * @throws CommandFailure, or the system's EADDRINUSE
 */
export async function needFreeAddress({ api }: Config): Promise<void> {
  if (api.unix_socket !== null && api.unix_socket !== '') {
    await removeStaleSocket(api.unix_socket)
    return
  }
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: api.host_ip, port: api.port, exclusive: true }, resolve)
  })
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

/** Whether somebody answers at that socket. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** A socket that a killed process left behind; anything else at that path stays. */
async function removeStaleSocket(path: string): Promise<void> {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined) return
  if (!there.isSocket())
    throw new CommandFailure(`[api]unix_socket: ${path} exists and is no socket: choose another path or remove it.`)
  if (await answers(path)) {
    throw new CommandFailure(`[api]unix_socket: another process answers at ${path}: stop that one or set another path.`)
  }
  rmSync(path)
}
