import { setTimeout as delay } from 'node:timers/promises'
import { TemporaryFailure } from '../errors/base.ts'

/** The connection broke before a change was confirmed: it may or may not have been stored. A peer sees TemporaryFailure. */
export class OutcomeUnknown extends TemporaryFailure {}

export const sleep = (ms: number): Promise<void> => delay(ms)

export interface RetrySettings {
  /** `[database]db_max_retries`, negative: forever */
  readonly attempts: number
  /** first pause in ms; doubled up to `maxPause` */
  readonly pause: number
  readonly maxPause: number
}

/**
 * Runs `action` again while `again(error)` says that nothing of it was done.
 * @throws the last error
 */
export async function retrying<T>(
  action: () => Promise<T>,
  again: (error: unknown) => boolean,
  { attempts, pause, maxPause }: RetrySettings,
): Promise<T> {
  for (let attempt = 1, wait = pause; ; attempt += 1, wait = Math.min(wait * 2, maxPause)) {
    try {
      return await action()
    } catch (error) {
      if (!again(error) || (attempts >= 0 && attempt > attempts)) throw error
      await sleep(wait * (0.5 + Math.random()))
    }
  }
}

/** Runs a change again when its outcome is not known: only for changes that are the same done twice. */
export const idempotent = <T>(action: () => Promise<T>): Promise<T> =>
  retrying(action, (error) => error instanceof OutcomeUnknown, { attempts: 5, pause: 100, maxPause: 1000 })
