import { readFile } from 'node:fs/promises'
import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { Keystone, KeystoneUnavailable } from '../lib/keystone-auth/keystone.ts'
import { IncompleteLogin } from '../lib/keystone-auth/login.ts'
import { tlsClientOptions } from '../lib/tls/client-options.ts'

const defaultTimeoutMs = 60_000

/** Where ramdisks find this service's API: as configured, or in Keystone's catalog. */
export class OwnApi {
  readonly #config: Config
  #keystone: Promise<Keystone> | undefined

  constructor(config: Config) {
    this.#config = config
  }

  /**
   * The URL, without a slash at its end: ramdisks add paths to it.
   * @throws InvalidParameterValue when it is nowhere to be found
   */
  async url(signal?: AbortSignal): Promise<string> {
    const { endpoint_override: override } = this.#config.service_catalog
    const url = override || (await this.#fromCatalog(signal))
    return url.replace(/\/+$/, '')
  }

  async close(): Promise<void> {
    const client = this.#keystone
    this.#keystone = undefined
    if (client !== undefined) await (await client).close()
  }

  async #fromCatalog(signal: AbortSignal | undefined): Promise<string> {
    const { service_type: type, valid_interfaces: interfaces, region_name, service_name } = this.#config.service_catalog
    const unknown = (why: string, cause?: unknown) =>
      new InvalidParameterValue(
        `The URL of this API is not known, so no agent can be told it: ${why}. Set [service_catalog]endpoint_override.`,
        { cause },
      )
    if (this.#config.DEFAULT.auth_strategy !== 'keystone' || !this.#config.service_catalog.auth_url) {
      throw unknown('there is no catalog to look it up in')
    }
    let found: string | undefined
    try {
      found = await (
        await this.#client()
      ).endpoint({ type, interfaces, region: region_name, name: service_name }, signal)
    } catch (cause) {
      if (!(cause instanceof KeystoneUnavailable) && !(cause instanceof IncompleteLogin)) throw cause
      throw unknown(cause.message, cause)
    }
    if (found === undefined) throw unknown(`the catalog has no ${type} endpoint for ${interfaces.join(' or ')}`)
    return found
  }

  #client(): Promise<Keystone> {
    this.#keystone ??= this.#connect().catch((error: unknown) => {
      this.#keystone = undefined
      throw error
    })
    return this.#keystone
  }

  async #connect(): Promise<Keystone> {
    const { service_catalog: options } = this.#config
    const { cafile, certfile, keyfile, insecure, timeout } = options
    const verify = insecure ? false : cafile === null ? true : { caPath: cafile }
    return new Keystone({
      login: options,
      tls: {
        ...(await tlsClientOptions({ verify, minimumVersion: options.tls_min_version, ciphers: options.tls_ciphers })),
        ...(certfile === null
          ? {}
          : { cert: await readFile(certfile, 'utf8'), key: await readFile(keyfile ?? certfile, 'utf8') }),
      },
      timeout: timeout === null ? defaultTimeoutMs : timeout * 1000,
      connectRetries: options.connect_retries ?? 1,
      region: options.region_name,
    })
  }
}
