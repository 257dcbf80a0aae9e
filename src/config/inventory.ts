import { oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const inventory = optionGroup('inventory', {
  data_backend: oneOf(['none', 'database', 'swift'], { default: 'database' }),
  swift_data_container: str({ default: 'introspection_data_container' }),
})
