import { bool, optionGroup, str } from '../lib/oslo-config/options.ts'

export const osloConcurrency = optionGroup('oslo_concurrency', {
  // oslo.concurrency
  disable_process_locking: bool({ default: false }),
  lock_path: str(),
})
