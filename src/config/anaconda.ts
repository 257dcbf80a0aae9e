import { bool, optionGroup, str } from '../lib/oslo-config/options.ts'

export const anaconda = optionGroup('anaconda', {
  default_ks_template: str({ default: '$pybasedir/drivers/modules/ks.cfg.template', mutable: true }),
  insecure_heartbeat: bool({ default: false, mutable: true }),
})
