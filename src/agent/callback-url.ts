import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'

/**
 * Checks the address that an agent asks to be called back at.
 * @throws InvalidParameterValue unless it is http(s) with a host and nothing smuggled in, and https when `[agent]require_tls`
 */
export function checkCallbackUrl(callbackUrl: string, config: Config): void {
  // a URL parser would quietly drop line ends and blanks
  if (/[\s\p{Cc}\\]/u.test(callbackUrl) || !URL.canParse(callbackUrl)) {
    throw new InvalidParameterValue('callback_url is not a URL.')
  }
  const url = new URL(callbackUrl)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidParameterValue(`callback_url must begin with https://, not ${url.protocol}//.`)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidParameterValue('callback_url must hold a scheme, a host, a port and a path only.')
  }
  if (config.agent.require_tls && url.protocol !== 'https:') {
    throw new InvalidParameterValue(
      'TLS is required by configuration: callback_url must begin with https:// ([agent]require_tls).',
    )
  }
}
