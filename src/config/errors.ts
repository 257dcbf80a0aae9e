import { bool, optionGroup } from '../lib/oslo-config/options.ts'

export const errors = optionGroup('errors', {
  fatal_exception_format_errors: bool({ default: false, deprecated: ['ironic_lib/(same)'] }),
})
