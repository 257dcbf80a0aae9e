import { bool, list, optionGroup, str } from '../lib/oslo-config/options.ts'

export const oci = optionGroup('oci', {
  secure_cdn_registries: list({
    default: ['<Red Hat registry>', '<Red Hat public registry>', '<Docker Hub>', '<Docker Hub, its registry-1 host>'],
  }),
  authentication_config: str({ mutable: true }),
  permit_fallback_to_http_transport: bool({ default: false }),
  verify_ca: str({ mutable: true }),
})
