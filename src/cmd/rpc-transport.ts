import type { Config } from '../config/index.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Transport } from '../rpc/contract.ts'
import { localTransport } from '../rpc/transports/local.ts'
import { CommandFailure } from './run-command.ts'

/**
 * The transport that `[DEFAULT]rpc_transport` names.
 *
 * @param allInOne API and conductor are one process; only then can they do without a transport between processes
 * @throws CommandFailure
 */
export function openTransport(config: Config, log: Logger, { allInOne }: { allInOne: boolean }): Transport {
  const { rpc_transport: name } = config.DEFAULT
  if (name === 'none') {
    if (allInOne) return localTransport(log)
    throw new CommandFailure(
      '[DEFAULT]rpc_transport is none, which needs API and conductor in one process: run the command ironic instead, or set json-rpc or oslo.',
    )
  }
  throw new CommandFailure(
    `[DEFAULT]rpc_transport is ${name}, which this release does not speak yet: set it to none and run the command ironic.`,
  )
}
