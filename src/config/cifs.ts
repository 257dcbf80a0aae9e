import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const cifs = optionGroup('cifs', {
  base_url: str(),
  share_path: str(),
  username: str(),
  password: str({ secret: true }),
})
