import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const nfs = optionGroup('nfs', {
  base_url: str(),
  share_path: str(),
})
