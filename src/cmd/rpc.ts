import type { Config } from '../config/index.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Transport } from '../rpc/contract.ts'
import { configuredTransport } from './messaging/transport.ts'
import { CommandFailure } from './run-command.ts'

/** Opens what `[DEFAULT]rpc_transport` names; the stack closes it. @throws ConfigInvalid */
export async function openTransport(
  stack: AsyncDisposableStack,
  config: Config,
  program: string,
  log: Logger,
): Promise<Transport> {
  const transport = await configuredTransport(config, program, log)
  stack.defer(async () => transport[Symbol.asyncDispose]?.())
  return transport
}

/** API and conductor as processes of their own need a way between them. @throws CommandFailure */
export function needTransport(config: Config): void {
  if (config.DEFAULT.rpc_transport !== 'none') return
  throw new CommandFailure(
    '[DEFAULT]rpc_transport is none, which needs API and conductor in one process: run the command ironic instead, or set json-rpc or oslo.',
  )
}
