/** Lets at most `limit` pieces of work through at a time; the others wait in order. */
export class Turnstile {
  readonly limit: number
  private inside = 0
  private readonly waiting: (() => void)[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  /** Nobody is inside and nobody waits. */
  get idle(): boolean {
    return this.inside === 0 && this.waiting.length === 0
  }

  /** @throws the signal's reason when it is aborted while waiting */
  async pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.enter(signal)
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.inside--
      else next()
    }
  }

  private enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.inside < this.limit) {
      this.inside++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(admit), 1)
        reject(signal!.reason)
      }
      const admit = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      this.waiting.push(admit)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
}
