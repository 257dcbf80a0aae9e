import { dict, int, optionGroup, optionalList } from '../lib/oslo-config/options.ts'

export const mdns = optionGroup('mdns', {
  registration_attempts: int({ default: 5, min: 1 }),
  lookup_attempts: int({ default: 3, min: 1 }),
  params: dict({ default: {}, quotes: true }),
  interfaces: optionalList(),
})
