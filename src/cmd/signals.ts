import type { LoadedIronicConfig } from '../config/load.ts'
import { ConfigError } from '../lib/oslo-config/errors.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'

export interface Signals extends Disposable {
  /** resolves when the process is asked to end */
  readonly stopped: Promise<Stop>
}

/** How the end was asked for. */
export interface Stop {
  readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGUSR2'
  /** finish all running work first, up to `drain_shutdown_timeout`, instead of `graceful_shutdown_timeout` */
  readonly drain: boolean
  /** keep the registration in the database: a restart follows */
  readonly keepRegistration: boolean
}

/**
 * SIGTERM and SIGINT stop gracefully, a second one at once. SIGHUP reads the configuration anew. SIGUSR1 keeps the conductor's
 * registration at the next stop, SIGUSR2 drains and stops: as in real Ironic.
 *
 * @param reloaded called after SIGHUP, for what must hear of it besides
 */
export function listenToSignals(
  loaded: LoadedIronicConfig,
  log: Logger,
  reloaded: (signal: 'SIGHUP') => void = () => {},
): Signals {
  const { promise: stopped, resolve } = Promise.withResolvers<Stop>()
  let stopping = false
  let keepRegistration = false
  const stop = (signal: Stop['signal']) => {
    if (stopping) {
      log.warning(`${signal} came again: stopping at once.`)
      process.exit(1)
    }
    stopping = true
    log.info(`${signal} received: stopping.`)
    resolve({ signal, drain: signal === 'SIGUSR2', keepRegistration })
  }
  const handlers: Partial<Record<NodeJS.Signals, () => void>> = {
    SIGTERM: () => stop('SIGTERM'),
    SIGINT: () => stop('SIGINT'),
    SIGUSR2: () => stop('SIGUSR2'),
    SIGUSR1: () => {
      keepRegistration = true
      log.info('SIGUSR1 received: the registration of this host stays when the service stops.')
    },
    SIGHUP: () => {
      reloadConfig(loaded, log)
      reloaded('SIGHUP')
    },
  }
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler)
  return {
    stopped,
    [Symbol.dispose]() {
      for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler)
    },
  }
}

function reloadConfig(loaded: LoadedIronicConfig, log: Logger): void {
  try {
    const { changed, ignored } = loaded.reload()
    for (const sentence of changed) log.info(sentence)
    for (const sentence of ignored) log.warning(sentence)
    log.info(`SIGHUP received: the configuration was read anew, ${changed.length} options changed.`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    log.error(`SIGHUP received, but the configuration cannot be used and stays as it was: ${error.message}`)
  }
}
