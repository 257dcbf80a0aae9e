import { maskText, mayHoldSecret } from '../secrets/mask.ts'

const mask = '***'

/** What oslo.utils does not know and a log must not show: credentials in URLs and in HTTP headers. */
const urlCredentials = /([a-z][a-z0-9+.-]*:\/\/[^\s:/?#@'"]*:)[^\s/?#'"]*(?=@)/gi
const headers =
  /\b((?:proxy-)?authorization|x-(?:auth|subject|service|openstack-nova)-[a-z-]*token|x-auth-key|set-cookie|cookie)(["']?\s*[:=]\s*["']?)[^\r\n"']+/gi
const bearer = /\b(Bearer|Basic)\s+[A-Za-z0-9+/._~=-]{8,}/g

/** A sentence for the log without passwords, tokens and other secrets, wherever in it they stand. */
export function maskSentence(text: string): string {
  let result = text
  if (result.includes('://')) result = result.replace(urlCredentials, `$1${mask}`)
  if (/authorization|token|x-auth|cookie/i.test(result)) result = result.replace(headers, `$1$2${mask}`)
  if (result.includes('Bearer ') || result.includes('Basic ')) result = result.replace(bearer, `$1 ${mask}`)
  return maskText(result, mask)
}

/** A value that goes into a log line beside its sentence, as one that can be written: copied, masked, never endless. */
export function maskDetail(key: string, value: unknown, depth = 0): unknown {
  if (value !== null && value !== undefined && typeof value !== 'object' && mayHoldSecret(key)) return mask
  if (typeof value === 'string') return maskSentence(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Error) return maskSentence(`${value.name}: ${value.message}`)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (mayHoldSecret(key)) return mask
  if (depth > 6) return '…'
  if (Array.isArray(value)) return value.map((item) => maskDetail('', item, depth + 1))
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskDetail(name, item, depth + 1)]))
}
