import type { RootLogger } from '../lib/oslo-log/create-logger.ts'

/**
 * What nobody caught: a rejected promise is logged with its stack and the service goes on; after an exception out of nowhere
 * nothing can be trusted, so the process ends, and its next start puts the nodes in order.
 */
export function lastResort(log: RootLogger): Disposable {
  const rejected = (reason: unknown) =>
    log.critical('A promise was rejected and nobody cared: please report this.', { error: reason })
  const thrown = (error: unknown) => {
    log.critical('An error that nobody expected ends this process: please report it.', { error })
    log.flushSync()
    process.exit(1)
  }
  process.on('unhandledRejection', rejected)
  process.on('uncaughtException', thrown)
  return {
    [Symbol.dispose]() {
      process.off('unhandledRejection', rejected)
      process.off('uncaughtException', thrown)
    },
  }
}
