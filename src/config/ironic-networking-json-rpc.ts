import { bool, float, hostAddress, list, octal, oneOf, optionGroup, port, str } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const ironicNetworkingJsonRpc = optionGroup('ironic_networking_json_rpc', {
  ...keystoneClientOptions,
  auth_type: str({ default: 'password', deprecated: ['(same)/auth_plugin'] }),
  timeout: float({ default: 120 }),
  service_type: str({ name: 'service-type' }),
  allowed_roles: list({ default: ['admin'] }),
  auth_strategy: oneOf(['noauth', 'keystone', 'http_basic']),
  cert_file: str(),
  client_use_ssl: bool({ default: false }),
  debug_log_request_id_only: bool({ default: true, mutable: true }),
  host_ip: hostAddress({ default: '::' }),
  http_basic_auth_user_file: str({ default: '/etc/ironic/htpasswd-json-rpc' }),
  key_file: str(),
  port: port({ default: 8089 }),
  server_tls_ciphers: str({ deprecated: ['(same)/tls_ciphers'] }),
  server_tls_minimum_version: oneOf(['1.2', '1.3'], { default: '1.3', deprecated: ['(same)/tls_minimum_version'] }),
  unix_socket: str(),
  unix_socket_mode: octal(),
  use_ssl: bool({ default: false }),
})
