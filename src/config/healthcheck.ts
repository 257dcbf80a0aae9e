import { bool, list, optionGroup, str } from '../lib/oslo-config/options.ts'

export const healthcheck = optionGroup('healthcheck', {
  enabled: bool({ default: false }),
  // oslo.middleware.healthcheck
  detailed: bool({ default: false }),
  backends: list({ default: [] }),
  allowed_source_ranges: list({ default: [] }),
  ignore_proxied_requests: bool({ default: false }),
  disable_by_file_path: str(),
  disable_by_file_paths: list({ default: [] }),
  enable_by_file_paths: list({ default: [] }),
})
