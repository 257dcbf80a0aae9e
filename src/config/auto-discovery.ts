import { bool, optionGroup, str } from '../lib/oslo-config/options.ts'

export const autoDiscovery = optionGroup('auto_discovery', {
  enabled: bool({ default: false, mutable: true }),
  driver: str({ mutable: true }),
  inspection_scope: str(),
})
