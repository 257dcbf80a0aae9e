/** More work waits than can be done in time; ask again later. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

/** Lets a few jobs run at a time and a bounded number wait; the rest is turned away at once. */
export class Turnstile {
  readonly #atOnce: number
  readonly #waitingAtMost: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, waitingAtMost: number) {
    this.#atOnce = atOnce
    this.#waitingAtMost = waitingAtMost
  }

  /** Runs the job when its turn comes. @throws Busy when too many wait already */
  async pass<T>(job: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#waitingAtMost) throw new Busy(`${this.#waiting.length} jobs wait already.`)
      // Whoever ends hands its place over, so the count stays as it is.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await job()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
