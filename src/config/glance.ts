import { bool, int, list, optionGroup, str, uri } from '../lib/oslo-config/options.ts'
import { keystoneClientOptions } from './keystone-client.ts'

export const glance = optionGroup('glance', {
  ...keystoneClientOptions,
  allowed_direct_url_schemes: list({ default: [], itemChoices: ['file'] }),
  num_retries: int({ default: 0, mutable: true }),
  service_type: str({ default: 'image', name: 'service-type' }),
  swift_account: str(),
  swift_account_prefix: str({ default: 'AUTH' }),
  swift_api_version: str({ default: 'v1' }),
  swift_container: str({ default: 'glance' }),
  swift_endpoint_url: uri({ schemes: ['http', 'https'] }),
  swift_store_multiple_containers_seed: int({ default: 0 }),
  swift_temp_url_cache_enabled: bool({ default: false }),
  swift_temp_url_duration: int({ default: 1200 }),
  swift_temp_url_expected_download_start_delay: int({ default: 0, min: 0 }),
  swift_temp_url_key: str({ secret: true }),
})
