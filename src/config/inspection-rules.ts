import { oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const inspectionRules = optionGroup('inspection_rules', {
  built_in_rules: str({ mutable: true }),
  mask_secrets: oneOf(['always', 'never', 'sensitive'], { default: 'always' }),
})
