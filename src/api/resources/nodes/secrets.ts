/** What of a node is hidden from whom. Works on the text of the columns; only one that may hold a secret is parsed. */
import { parseJson } from '../../../lib/json/exact.ts'
import { maskMembers, mayHoldSecret } from '../../../lib/secrets/mask.ts'
import type { Members } from '../../values.ts'

const mask = '******'

function hideKeys(members: Members, keys: readonly string[]): void {
  for (const key of keys) if (Object.hasOwn(members, key) && isSet(members[key])) members[key] = mask
}
/** Python's truth: empty texts and objects count as not set. */
const isSet = (value: unknown): boolean => {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

export function hideDriverInfo(text: string): string {
  if (!text.includes('snmp_') && !mayHoldSecret(text)) return text
  const members = maskMembers(parseJson(text) as Members, mask)
  hideKeys(members, ['snmp_auth_key', 'snmp_priv_key'])
  return JSON.stringify(members)
}

/** Temporary URLs of images are secrets too. */
export function hideInstanceInfo(text: string): string {
  if (!text.includes('image_url') && !mayHoldSecret(text)) return text
  const members = maskMembers(parseJson(text) as Members, mask)
  hideKeys(members, ['configdrive', 'image_url'])
  return JSON.stringify(members)
}

export function hideInternalInfo(text: string): string {
  if (!mayHoldSecret(text)) return text
  return JSON.stringify(maskMembers(parseJson(text) as Members, mask))
}

/** What a caller without the permission sees in place of a field. */
export const redacted = {
  last_error: JSON.stringify('** Value Redacted - Requires baremetal:node:get:last_error permission. **'),
  reservation: JSON.stringify('** Redacted - requires baremetal:node:get:reservation permission. **'),
  driver_internal_info: JSON.stringify({
    content: '** Redacted - Requires baremetal:node:get:driver_internal_info permission. **',
  }),
  driver_info: JSON.stringify({ content: '** Redacted - requires baremetal:node:get:driver_info permission. **' }),
} as const
export type RedactedField = keyof typeof redacted
export const redactable = Object.keys(redacted) as RedactedField[]
