import { pythonSpace, strip } from '../python/text.ts'

/** The `Authorization: Basic` header of RFC 7617, read as strictly as Python's `base64.b64decode(validate=True)`. */

export interface BasicCredentials {
  readonly user: string
  /** The bytes as sent: nothing says which encoding a password is in. */
  readonly password: Buffer
}

/** The header cannot be understood; a client's mistake, not a failed login. */
export class MalformedAuthorization extends Error {
  override readonly name = 'MalformedAuthorization'
}

const schemeAndToken = new RegExp(`^([^${pythonSpace}]+)[${pythonSpace}]+([^]+)$`)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * The token of an `Authorization` header of the kind Basic (in any letter case).
 * @throws MalformedAuthorization when there is no token, or the scheme is another one
 */
export function basicToken(header: string): string {
  const [, scheme, token] = schemeAndToken.exec(strip(header)) ?? []
  if (scheme === undefined || token === undefined) {
    throw new MalformedAuthorization(
      'The Authorization header must be "Basic", a space, and base64 of "user:password".',
    )
  }
  if (scheme.toLowerCase() !== 'basic') {
    throw new MalformedAuthorization(`Authorization type "${scheme.slice(0, 40)}" is not taken here; send Basic.`)
  }
  return token
}

/**
 * User and password from the token: base64 of `user:password`, the user in UTF-8.
 * @throws MalformedAuthorization
 */
export function basicCredentials(token: string): BasicCredentials {
  const bytes = base64.test(token) ? Buffer.from(token, 'base64') : undefined
  const colon = bytes?.indexOf(0x3a) ?? -1
  if (bytes === undefined || colon < 0) {
    throw new MalformedAuthorization('The token of the Authorization header is not base64 of "user:password".')
  }
  try {
    const user = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, colon))
    return { user, password: bytes.subarray(colon + 1) }
  } catch (cause) {
    throw new MalformedAuthorization('The user name in the Authorization header is not UTF-8.', { cause })
  }
}
