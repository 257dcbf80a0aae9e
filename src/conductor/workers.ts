import type { Config } from '../config/index.ts'
import { IncorrectConfiguration } from '../errors/agent.ts'
import { NoFreeConductorWorker } from '../errors/conductor.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'

/** A worker that is taken: it either runs one piece of work, or is given back. */
export interface Slot {
  /** Runs the work; the slot is free again when it ends. Errors are logged, not thrown. */
  run(name: string, work: () => Promise<void>): Promise<void>
  free(): void
}

/**
 * Limits how much runs at once. There is no queue: what finds no free worker is refused, so that the caller learns it.
 * A part (`[conductor]reserved_workers_pool_percentage`) is kept for requests of users, so that heartbeats and periodic
 * work cannot take all.
 */
export class Workers {
  readonly limit: number
  readonly reserved: number
  readonly #log: Logger
  readonly #running = new Set<Promise<void>>()
  #taken = 0
  #takenReserved = 0
  #closed = false

  /** @throws IncorrectConfiguration when there are fewer workers than the periodic work needs */
  constructor(config: Config, log: Logger) {
    const { workers_pool_size: size, reserved_workers_pool_percentage: share } = config.conductor
    this.reserved = Math.trunc((size * share) / 100)
    this.limit = size - this.reserved
    this.#log = log
    const least = config.conductor.sync_power_state_workers + 2 * config.conductor.periodic_max_workers + 2
    if (least >= this.limit) {
      throw new IncorrectConfiguration({
        error: `[conductor]workers_pool_size leaves ${this.limit} workers, but sync_power_state_workers and periodic_max_workers need more than ${least}`,
      })
    }
  }

  get busy(): number {
    return this.#taken + this.#takenReserved
  }

  /**
   * Takes a worker. @param useReserved false for heartbeats and periodic work
   * @throws NoFreeConductorWorker
   */
  reserve({ useReserved = true }: { useReserved?: boolean } = {}): Slot {
    if (this.#closed) throw new NoFreeConductorWorker('The conductor is stopping and takes no new work.')
    if (this.#taken < this.limit) {
      this.#taken++
      return this.#slot(() => this.#taken--)
    }
    if (useReserved && this.#takenReserved < this.reserved) {
      this.#takenReserved++
      return this.#slot(() => this.#takenReserved--)
    }
    throw new NoFreeConductorWorker({})
  }

  /** Takes a worker and runs the work. @throws NoFreeConductorWorker */
  start(name: string, work: () => Promise<void>, options?: { useReserved?: boolean }): void {
    void this.reserve(options).run(name, work)
  }

  /** From now on everything is refused. */
  close(): void {
    this.#closed = true
  }

  /** Waits until nothing runs, or the signal. @returns did all end? */
  async idle(signal: AbortSignal): Promise<boolean> {
    while (this.#running.size > 0 && !signal.aborted) {
      const { promise: stopped, resolve } = Promise.withResolvers<void>()
      const stop = () => resolve()
      signal.addEventListener('abort', stop, { once: true })
      await Promise.race([Promise.all(this.#running), stopped])
      signal.removeEventListener('abort', stop)
    }
    return this.#running.size === 0
  }

  #slot(giveBack: () => void): Slot {
    let held = true
    const free = () => {
      if (!held) return
      held = false
      giveBack()
    }
    return {
      free,
      run: (name, work) => {
        const running = work()
          .catch((error: unknown) => this.#log.error(`${name} failed: ${String(error)}`, { error }))
          .finally(() => {
            this.#running.delete(running)
            free()
          })
        this.#running.add(running)
        return running
      },
    }
  }
}
