import { bool, float, multiStr, oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const osloPolicy = optionGroup('oslo_policy', {
  // oslo.policy
  enforce_new_defaults: bool({ default: true }),
  policy_file: str({ default: 'policy.yaml' }),
  policy_default_rule: str({ default: 'default' }),
  policy_dirs: multiStr({ default: ['policy.d'] }),
  remote_content_type: oneOf(['application/x-www-form-urlencoded', 'application/json'], {
    default: 'application/x-www-form-urlencoded',
  }),
  remote_ssl_verify_server_crt: bool({ default: false }),
  remote_ssl_ca_crt_file: str(),
  remote_ssl_client_crt_file: str(),
  remote_ssl_client_key_file: str(),
  remote_timeout: float({ default: 60, min: 0 }),
})
