import type { Config } from '../config/index.ts'
import { loadIronicConfig, type LoadedIronicConfig } from '../config/load.ts'
import { settingsNotActedUpon } from '../config/acted-upon.ts'
import type { Db } from '../db/database.ts'
import type { Clock } from '../domain/clock.ts'
import { createLogger, type RootLogger } from '../lib/oslo-log/create-logger.ts'
import { openConfiguredDatabase } from './database.ts'
import { systemClock } from './system-clock.ts'

/** What a process of the service begins with. Disposing writes the last lines and closes the database. */
export interface ProcessParts extends AsyncDisposable {
  readonly loaded: LoadedIronicConfig
  readonly config: Config
  readonly log: RootLogger
  readonly db: Db
  readonly clock: Clock
}

export interface ProcessInput {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/**
 * Reads the configuration, opens the log and the database, and says what in the configuration is not as it should be.
 *
 * @throws ConfigError, CommandLineExit, or what the log file or database throws
 */
export async function openProcess(input: ProcessInput): Promise<ProcessParts> {
  const loaded = loadIronicConfig(input)
  const { config } = loaded
  await using stack = new AsyncDisposableStack()
  const log = createLogger(config.DEFAULT, { program: input.program })
  stack.defer(() => log.close())
  const clock = systemClock
  for (const sentence of [...loaded.warnings, ...settingsNotActedUpon(loaded.effective())]) log.warning(sentence)
  const db = await openConfiguredDatabase(config, clock)
  stack.defer(() => db.close())
  const closing = stack.move()
  return { loaded, config, log, db, clock, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
