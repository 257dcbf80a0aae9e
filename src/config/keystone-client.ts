import { bool, float, int, list, oneOf, optionalInts, str } from '../lib/oslo-config/options.ts'

/** What keystoneauth1's `password` plugin takes. */
export const keystonePasswordOptions = {
  password: str({ secret: true }),
  auth_url: str({ required: true, name: 'auth-url' }),
  default_domain_id: str({ name: 'default-domain-id' }),
  default_domain_name: str({ name: 'default-domain-name' }),
  domain_id: str({ name: 'domain-id' }),
  domain_name: str({ name: 'domain-name' }),
  project_domain_id: str({ name: 'project-domain-id' }),
  project_domain_name: str({ name: 'project-domain-name' }),
  project_id: str({ deprecated: ['(same)/tenant-id', '(same)/tenant_id'], name: 'project-id' }),
  project_name: str({ deprecated: ['(same)/tenant-name', '(same)/tenant_name'], name: 'project-name' }),
  system_scope: str({ name: 'system-scope' }),
  tenant_id: str({ name: 'tenant-id' }),
  tenant_name: str({ name: 'tenant-name' }),
  trust_id: str({ name: 'trust-id' }),
  user_domain_id: str({ name: 'user-domain-id' }),
  user_domain_name: str({ name: 'user-domain-name' }),
  user_id: str({ name: 'user-id' }),
  username: str({ deprecated: ['(same)/user-name', '(same)/user_name'] }),
}

/** What the plugins `v3applicationcredential`, `http_basic` and `none` take besides. */
export const keystoneOtherPluginOptions = {
  application_credential_id: str(),
  application_credential_name: str(),
  application_credential_secret: str({ secret: true }),
  endpoint: str(),
}

/** How a service logs in to Keystone and finds its peer: keystoneauth1's session, plugin and adapter options. */
export const keystoneClientOptions = {
  ...keystonePasswordOptions,
  ...keystoneOtherPluginOptions,
  auth_type: str({ deprecated: ['(same)/auth_plugin'] }),
  auth_section: str(),
  cafile: str(),
  certfile: str(),
  collect_timing: bool({ default: false, name: 'collect-timing' }),
  connect_retries: int({ name: 'connect-retries' }),
  connect_retry_delay: float({ name: 'connect-retry-delay' }),
  endpoint_override: str({ name: 'endpoint-override' }),
  insecure: bool({ default: false }),
  interface: str(),
  keyfile: str(),
  max_version: str({ name: 'max-version' }),
  min_version: str({ name: 'min-version' }),
  region_name: str({ name: 'region-name' }),
  retriable_status_codes: optionalInts({ name: 'retriable-status-codes' }),
  service_name: str({ name: 'service-name' }),
  split_loggers: bool({ default: false, name: 'split-loggers' }),
  status_code_retries: int({ name: 'status-code-retries' }),
  status_code_retry_delay: float({ name: 'status-code-retry-delay' }),
  timeout: float(),
  tls_ciphers: str({ name: 'tls-ciphers' }),
  tls_min_version: oneOf([null, '1.2', '1.3'], { name: 'tls-min-version' }),
  valid_interfaces: list({ default: ['internal', 'public'], name: 'valid-interfaces' }),
  version: str(),
}
