import { readFile } from 'node:fs/promises'
import type { ServerOptions } from 'node:https'
import type { Authenticator } from '../../api/auth/authenticator.ts'
import { httpBasic } from '../../api/auth/http-basic.ts'
import { keystone } from '../../api/auth/keystone.ts'
import type { Config } from '../../config/index.ts'
import { ConfigInvalid } from '../../errors/index.ts'
import { Keystone } from '../../lib/keystone-auth/keystone.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { tlsClientOptions } from '../../lib/tls/client-options.ts'
import type { ReleaseName } from '../../objects/convert.ts'
import type { Admission } from '../../rpc/transports/json-rpc-server.ts'
import type { JsonRpcOptions } from '../../rpc/transports/json-rpc.ts'

type Strategy = 'noauth' | 'keystone' | 'http_basic'

const strategyOf = (config: Config): Strategy => config.json_rpc.auth_strategy ?? config.DEFAULT.auth_strategy

/** Lets in whom the strategy knows; with Keystone, one of `allowed_roles` is needed as well. */
async function admission(config: Config, log: Logger): Promise<Admission> {
  const strategy = strategyOf(config)
  if (strategy === 'noauth') return () => Promise.resolve(null)
  const authenticator: Authenticator =
    strategy === 'http_basic'
      ? await httpBasic(config.json_rpc.http_basic_auth_user_file, log)
      : await keystone(config, log)
  const allowed = config.json_rpc.allowed_roles
  return async (headers) => {
    const verdict = await authenticator.identify(headers, { method: 'POST', path: '/' })
    if ('refusal' in verdict) return verdict.refusal
    const roles = verdict.identity.roles ?? []
    if (strategy === 'http_basic' || roles.some((role) => allowed.includes(role))) return null
    return { status: 403, headers: {}, body: { error: { code: 403, message: 'Forbidden' } } }
  }
}

/** The headers that say who we are to a peer. */
async function credentials(config: Config): Promise<JsonRpcOptions['credentials']> {
  const strategy = strategyOf(config)
  if (strategy === 'noauth') return () => Promise.resolve({ 'x-auth-token': 'notused' })
  const { username, password } = config.json_rpc
  if (strategy === 'http_basic') {
    if (username === null || password === null)
      throw new ConfigInvalid('[json_rpc]username and password are needed for auth_strategy = http_basic.')
    const token = Buffer.from(`${username}:${password}`).toString('base64')
    return () => Promise.resolve({ authorization: `Basic ${token}` })
  }
  const { cafile, insecure } = config.json_rpc
  const client = new Keystone({
    login: config.json_rpc,
    tls: await tlsClientOptions({ verify: insecure ? false : cafile === null ? true : { caPath: cafile } }),
    timeout: 60_000,
    connectRetries: 1,
  })
  return async () => ({ 'x-auth-token': await client.token() })
}

async function read(option: string, file: string | null): Promise<string> {
  if (file === null) throw new ConfigInvalid(`[json_rpc]use_ssl needs ${option}.`)
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new ConfigInvalid(`[json_rpc]${option}: ${file} cannot be read.`, { cause })
  }
}

async function serverTls({ json_rpc: options, ssl }: Config): Promise<ServerOptions | null> {
  if (!options.use_ssl) return null
  return {
    cert: await read('cert_file', options.cert_file ?? ssl.cert_file),
    key: await read('key_file', options.key_file ?? ssl.key_file),
    minVersion: `TLSv${options.server_tls_minimum_version}`,
    ...(options.server_tls_ciphers !== null && { ciphers: options.server_tls_ciphers }),
  }
}

async function clientTls({ json_rpc: options }: Config): Promise<Record<string, unknown> | null> {
  if (!options.use_ssl && !options.client_use_ssl) return null
  const { cafile, insecure, certfile, keyfile } = options
  return {
    ...(await tlsClientOptions({ verify: insecure ? false : cafile === null ? true : { caPath: cafile } })),
    ...(certfile !== null && {
      cert: await read('certfile', certfile),
      key: await read('keyfile', keyfile ?? certfile),
    }),
  }
}

/** @throws ConfigInvalid when credentials or certificates are missing */
export async function jsonRpcOptions(config: Config, log: Logger): Promise<JsonRpcOptions> {
  const { port, timeout, host_ip: host, unix_socket: path, unix_socket_mode: mode } = config.json_rpc
  const pin = config.DEFAULT.pin_release_version as ReleaseName | null
  return {
    port,
    timeoutSeconds: timeout ?? 120,
    clientTls: await clientTls(config),
    credentials: await credentials(config),
    ...(pin !== null && { pin }),
    log: log.named('ironic.rpc'),
    server: {
      admit: await admission(config, log),
      tls: await serverTls(config),
      listen: path === null ? { host, port } : { path, mode },
      maxDepth: config.api.max_json_body_depth,
      maxBody: 2 ** 26,
    },
  }
}
