import { int, list, optionGroup, str } from '../lib/oslo-config/options.ts'

export const pxeFilter = optionGroup('pxe_filter', {
  dhcp_hostsdir: str(),
  supported_inspect_interfaces: list({ default: ['agent'], mutable: true }),
  sync_period: int({ default: 45, mutable: true }),
})
