import { bool, optionGroup } from '../lib/oslo-config/options.ts'

export const osloVersionedobjects = optionGroup('oslo_versionedobjects', {
  // oslo.versionedobjects
  fatal_exception_format_errors: bool({ default: false }),
})
