import type { Config } from '../../config/index.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import type { Authenticator } from './authenticator.ts'
import { httpBasic } from './http-basic.ts'
import { keystone } from './keystone.ts'
import { noauth } from './noauth.ts'

/**
 * The authenticator that `[DEFAULT]auth_strategy` names.
 * @throws ConfigInvalid when its options are incomplete or its files cannot be read
 */
export function authenticatorFor(config: Config, log: Logger): Promise<Authenticator> {
  switch (config.DEFAULT.auth_strategy) {
    case 'noauth':
      return Promise.resolve(noauth)
    case 'http_basic':
      return httpBasic(config.DEFAULT.http_basic_auth_user_file, log)
    case 'keystone':
      return keystone(config, log)
  }
}
