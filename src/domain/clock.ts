/** Time, handed in so that tests can move it. */
export interface Clock {
  now(): Date
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
