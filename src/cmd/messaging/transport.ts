import type { Config } from '../../config/index.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import type { ReleaseName } from '../../objects/convert.ts'
import type { Transport } from '../../rpc/contract.ts'
import { JsonRpcTransport, registeredName } from '../../rpc/transports/json-rpc.ts'
import { localTransport } from '../../rpc/transports/local.ts'
import { OsloTransport } from '../../rpc/transports/oslo.ts'
import { brokerOptions } from './broker-options.ts'
import { jsonRpcOptions } from './json-rpc-options.ts'

export type OpenTransport = Transport & Partial<AsyncDisposable>

/** The way that `[DEFAULT]rpc_transport` names. @throws ConfigInvalid */
export async function configuredTransport(config: Config, program: string, log: Logger): Promise<OpenTransport> {
  switch (config.DEFAULT.rpc_transport) {
    case 'none':
      return localTransport(log.named('ironic.rpc'))
    case 'json-rpc':
      return new JsonRpcTransport(await jsonRpcOptions(config, log))
    case 'oslo': {
      const pin = config.DEFAULT.pin_release_version as ReleaseName | null
      return new OsloTransport({
        ...(await brokerOptions(config, program, log)),
        responseTimeout: config.DEFAULT.rpc_response_timeout,
        ...(pin !== null && { pin }),
        log: log.named('ironic.rpc'),
      })
    }
  }
}

/** The name that this conductor has for its peers: with JSON-RPC on another port than the stock one, the port belongs to it. */
export function conductorName(config: Config): string {
  const { host, rpc_transport: transport } = config.DEFAULT
  return transport === 'json-rpc' ? registeredName(host, config.json_rpc.port) : host
}
