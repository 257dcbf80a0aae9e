import type { Config } from '../config/index.ts'
import { type LoadIronicConfigInput, loadIronicConfig, type LoadedIronicConfig } from '../config/load.ts'
import { settingsNotActedUpon } from '../config/acted-upon.ts'
import type { Db } from '../db/database.ts'
import type { Clock } from '../domain/clock.ts'
import { titled } from '../lib/oslo-config/registered.ts'
import { createLogger, type RootLogger } from '../lib/oslo-log/create-logger.ts'
import { openConfiguredDatabase } from './database.ts'
import { lastResort } from './last-resort.ts'
import { systemClock } from './system-clock.ts'

/** What a process of the service begins with. Disposing writes the last lines and closes the database. */
export interface ProcessParts extends AsyncDisposable {
  readonly loaded: LoadedIronicConfig
  readonly config: Config
  readonly log: RootLogger
  readonly db: Db
  readonly clock: Clock
}

/**
 * Reads the configuration, opens the log and the database, and says what in the configuration is not as it should be: unknown
 * options and, unless `tellUnused` is false (tools whose output is read by scripts), those that nothing acts on.
 *
 * @throws ConfigError, CommandLineExit, or what the log file or database throws
 */
export async function openProcess(
  input: LoadIronicConfigInput,
  { tellUnused = true }: { tellUnused?: boolean } = {},
): Promise<ProcessParts> {
  const loaded = loadIronicConfig(input)
  const { config } = loaded
  await using stack = new AsyncDisposableStack()
  const log = createLogger(config.DEFAULT, { program: input.program })
  stack.defer(() => log.close())
  stack.use(lastResort(log))
  const clock = systemClock
  const unused = tellUnused ? settingsNotActedUpon(loaded.effective()) : []
  for (const sentence of [...loaded.warnings, ...unused]) log.warning(sentence)
  if (config.DEFAULT.log_options && config.DEFAULT.debug) logOptions(loaded, log)
  const db = await openConfiguredDatabase(config, clock)
  stack.defer(() => db.close())
  const closing = stack.move()
  return { loaded, config, log, db, clock, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** All options with their values, as oslo.service logs them at the start. */
function logOptions(loaded: LoadedIronicConfig, log: RootLogger): void {
  for (const { option, value } of loaded.effective()) {
    log.debug(`${titled(option)} = ${option.secret ? '****' : JSON.stringify(value)}`)
  }
}
