import { bool, int, list, multiStr, optionGroup } from '../lib/oslo-config/options.ts'

export const ipmi = optionGroup('ipmi', {
  command_retry_timeout: int({ default: 60, mutable: true }),
  min_command_interval: int({ default: 5, mutable: true }),
  use_ipmitool_retries: bool({ default: false }),
  kill_on_timeout: bool({ default: true, mutable: true }),
  disable_boot_timeout: bool({ default: true, mutable: true }),
  additional_retryable_ipmi_errors: multiStr({ default: [], mutable: true }),
  debug: bool({ default: false, mutable: true }),
  store_cred_in_env: bool({ default: false }),
  cipher_suite_versions: list({ default: [] }),
})
