import { bool, optionGroup, str } from '../lib/oslo-config/options.ts'

export const audit = optionGroup('audit', {
  enabled: bool({ default: false }),
  audit_map_file: str({ default: '/etc/ironic/api_audit_map.conf' }),
  ignore_req_list: str({ default: '' }),
})
