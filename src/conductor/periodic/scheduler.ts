import type { Clock } from '../../domain/clock.ts'
import { IronicError } from '../../errors/define.ts'
import type { Logger } from '../../lib/oslo-log/logger.ts'
import type { ServiceParts } from '../service/parts.ts'

/** Something that a conductor does every so often. */
export interface PeriodicTask {
  readonly name: string
  /** seconds between two runs; 0 or less: never */
  readonly interval: number
  run(parts: ServiceParts): Promise<void>
}

/** Runs each task on its own beat, one run of it at a time, until the signal. */
export class Scheduler {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #loops: Promise<void>[] = []

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock
    this.#log = log
  }

  start(tasks: readonly PeriodicTask[], parts: ServiceParts, signal: AbortSignal): void {
    for (const task of tasks) if (task.interval > 0) this.#loops.push(this.#loop(task, parts, signal))
  }

  /** Resolves when every loop has ended; abort the signal first. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops)
  }

  async #loop(task: PeriodicTask, parts: ServiceParts, signal: AbortSignal): Promise<void> {
    while (await this.#pause(task.interval * 1000, signal)) await this.#run(task, parts, signal)
  }

  /** @returns false when it is time to stop */
  async #pause(ms: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#clock.sleep(ms, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return !signal.aborted
  }

  async #run(task: PeriodicTask, parts: ServiceParts, signal: AbortSignal): Promise<void> {
    const started = this.#clock.now().getTime()
    try {
      await task.run(parts)
    } catch (error) {
      if (signal.aborted) return
      this.#log.error(
        `The periodic task "${task.name}" failed: ${String(error)}`,
        error instanceof IronicError ? {} : { error },
      )
    }
    const seconds = (this.#clock.now().getTime() - started) / 1000
    if (seconds > 3 * task.interval) {
      this.#log.warning(
        `The periodic task "${task.name}" took ${seconds.toFixed(1)} s, more than three times its interval`,
      )
    }
  }
}
