import { int, optionGroup } from '../lib/oslo-config/options.ts'

export const diskUtils = optionGroup('disk_utils', {
  image_convert_memory_limit: int({ default: 2048 }),
  image_convert_attempts: int({ default: 3 }),
})
