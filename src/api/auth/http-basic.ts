import { stat } from 'node:fs/promises'
import { ConfigInvalid } from '../../errors/general.ts'
import { basicCredentials, basicToken, MalformedAuthorization } from '../../lib/http-basic/header.ts'
import { Htpasswd, HtpasswdFileError, WrongCredentials } from '../../lib/http-basic/htpasswd.ts'
import { Busy } from '../../lib/http-basic/turnstile.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import { headerOf, type Authenticator, type Refusal, type RequestHeaders, type Verdict } from './authenticator.ts'

/** The shape real Ironic's middleware answers with; it stands before the API and its error envelope. */
const refusal = (status: number, message: string, headers: Record<string, string> = {}): { refusal: Refusal } => ({
  refusal: { status, headers, body: { error: { message, code: status } } },
})

const challenge = { 'www-authenticate': 'Basic realm="Baremetal API"' }

/**
 * `auth_strategy = http_basic`: users and bcrypt hashes in the file of `http_basic_auth_user_file`. Whoever is in it may do
 * everything.
 * @throws ConfigInvalid when the file cannot be used
 */
export async function httpBasic(path: string, log: Logger): Promise<Authenticator> {
  let users: Htpasswd
  try {
    users = await Htpasswd.open(path)
    if (((await stat(path)).mode & 0o007) !== 0) {
      log.warning(`${path} holds password hashes and may be read by everybody on this machine; take that right away.`)
    }
  } catch (cause) {
    if (!(cause instanceof HtpasswdFileError)) throw cause
    throw new ConfigInvalid(`[DEFAULT]http_basic_auth_user_file: ${cause.message}`, { cause })
  }
  return {
    identify: (headers) => identify(users, log, headers),
    close: () => Promise.resolve(),
  }
}

async function identify(users: Htpasswd, log: Logger, headers: RequestHeaders): Promise<Verdict> {
  const header = headerOf(headers, 'authorization')
  if (header === undefined) return refusal(401, 'Send a user name and password (HTTP Basic).', challenge)
  try {
    const { user, password } = basicCredentials(basicToken(header))
    const user_id = await users.authenticate(user, password)
    return { identity: { user_id, user_name: user_id, roles: [], is_admin_project: true } }
  } catch (error) {
    if (error instanceof MalformedAuthorization) return refusal(400, error.message)
    if (error instanceof WrongCredentials) {
      log.info(error.reason)
      return refusal(401, error.message, challenge)
    }
    if (error instanceof Busy) return refusal(503, 'Too many logins at once; try again.', { 'retry-after': '1' })
    if (error instanceof HtpasswdFileError) {
      log.error(`Nobody can be authenticated: ${error.message}`, { error })
      return refusal(500, 'The users of this service cannot be read; see its log.')
    }
    throw error
  }
}
