/** Hiding secrets by the name they stand under: the list and the rules of oslo.utils' `mask_password` and `mask_dict_password`. */

import { setMember } from '../json-patch/apply.ts'

const secretWords = [
  'adminpass',
  'admin_pass',
  'password',
  'admin_password',
  'auth_token',
  'new_pass',
  'auth_password',
  'secret_uuid',
  'secret',
  'sys_pswd',
  'token',
  'configdrive',
  'chappassword',
  'encrypted_key',
  'private_key',
  'fernetkey',
  'sslkey',
  'passphrase',
  'cephclusterfsid',
  'octaviaheartbeatkey',
  'rabbitcookie',
  'cephmanilaclientkey',
  'pacemakerremoteauthkey',
  'designaterndckey',
  'cephadminkey',
  'heatauthencryptionkey',
  'cephclientkey',
  'keystonecredential',
  'barbicansimplecryptokek',
  'cephrgwkey',
  'swifthashsuffix',
  'migrationsshkey',
  'cephmdskey',
  'cephmonkey',
  'chapsecret',
] as const

const anySecretWord = new RegExp(secretWords.join('|'))

/** Parts of the secret words, one of which is in each: quick to look for. */
const hints = ['pass', 'pswd', 'secret', 'token', 'key', 'configdrive', 'cookie', 'fsid', 'credential', 'kek', 'suffix']

const shortest = Math.min(...secretWords.map((word) => word.length))

/** Whether a text (a key, a sentence, a whole JSON document) could hold a secret; false is certain. */
export function mayHoldSecret(text: string): boolean {
  if (text.length < shortest) return false
  const lower = text.toLowerCase()
  return hints.some((hint) => lower.includes(hint)) && anySecretWord.test(lower)
}

const around = (key: string): RegExp[] =>
  [
    `(${key}[0-9]*\\s*=\\s*["'])[^"']*(["'])`,
    `(${key}[0-9]*\\s*=\\s*["])[^"]*(["])`,
    `(${key}[0-9]*\\s*=\\s*['])[^']*(['])`,
    `(${key}[0-9]*\\s+["'])[^"']*(["'])`,
    `(-{2}${key}[0-9]*\\s+)[^'^"^=^\\s]+([\\s]*)`,
    `(<${key}[0-9]*>)[^<]*(</${key}[0-9]*>)`,
    `(["']${key}[0-9]*["']\\s*:\\s*["'])[^"']*(["'])`,
    `(['"][^"']*${key}[0-9]*['"]\\s*:\\s*u?['"])[^"']*(['"])`,
    `(['"][^'"]*${key}[0-9]*['"]\\s*,\\s*'--?[A-z]+'\\s*,\\s*u?['"])[^"']*(['"])`,
    `(${key}[0-9]*\\s*--?[A-z]+\\s*)\\S+(\\s*)`,
  ].map((text) => new RegExp(text, 'gis'))
const before = (key: string): RegExp => new RegExp(`(${key}[0-9]*\\s*=\\s*)[^\\s^'^"]+`, 'gis')
/** Texts with quotes inside: everything up to the last quote went with the value, so what follows it is dropped. */
const wildcard = (key: string): RegExp =>
  new RegExp(`(['"][^"']*${key}[0-9]*['"]\\s*:\\s*u?['"].*['"])[^"']*(['"])`, 'gis')

interface SecretPatterns {
  readonly around: readonly RegExp[]
  readonly before: RegExp
  readonly wildcard: RegExp
}
const patterns: ReadonlyMap<string, SecretPatterns> = new Map(
  secretWords.map((key) => [key, { around: around(key), before: before(key), wildcard: wildcard(key) }]),
)

/** The sentence with every value that stands under a secret-looking name replaced. */
export function maskText(text: string, mask = '***'): string {
  if (!mayHoldSecret(text)) return text
  let result = text
  for (const [key, { around: pairs, before: single, wildcard: rest }] of patterns) {
    if (!result.toLowerCase().includes(key)) continue
    for (const pattern of pairs) result = result.replace(pattern, (_all, a: string, b: string) => a + mask + b)
    result = result.replace(single, (_all, a: string) => a + mask)
    result = result.replace(rest, (_all, a: string) => a)
  }
  return result
}

function maskValue(value: unknown, mask: string): unknown {
  if (typeof value === 'string') return maskText(value, mask)
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask))
  if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) {
    return maskMembers(value as Record<string, unknown>, mask)
  }
  return value
}

/** A copy of the document where everything under a secret-looking name, at any depth, is replaced. */
export function maskMembers(document: Readonly<Record<string, unknown>>, mask = '***'): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(document)) {
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
    setMember(result, key, !nested && mayHoldSecret(key) ? mask : maskValue(value, mask))
  }
  return result
}
