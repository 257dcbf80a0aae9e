import { bool, int, optionGroup } from '../lib/oslo-config/options.ts'

/** Options that real Ironic does not have. */
export const openkeel = optionGroup('openkeel', {
  allow_noauth_on_any_address: bool({
    default: false,
    help: 'Let the API listen on a non-loopback address without authentication.',
  }),
  embedded_http_server: bool({
    default: false,
    help: 'Serve [deploy]http_root from the conductor process itself, at the address of [deploy]http_url.',
  }),
  bmc_concurrency: int({ default: 4, min: 1, help: 'How many requests may be open to one BMC at a time.' }),
})
