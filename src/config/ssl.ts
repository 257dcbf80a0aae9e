import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const ssl = optionGroup('ssl', {
  // oslo.service.sslutils
  ca_file: str({ deprecatedForRemoval: true }),
  cert_file: str({ deprecatedForRemoval: true }),
  key_file: str({ deprecatedForRemoval: true }),
  version: str({ deprecatedForRemoval: true }),
  ciphers: str({ deprecatedForRemoval: true }),
})
