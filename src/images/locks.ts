/** One user at a time per name, in the order of asking. */
export class NamedLocks {
  readonly #last = new Map<string, Promise<void>>()

  async with<T>(name: string, body: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const mine = before.then(() => promise)
    this.#last.set(name, mine)
    await before
    try {
      return await body()
    } finally {
      resolve()
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}

/** So many users at a time, the others wait in the order of asking. */
export class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async with<T>(body: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    try {
      return await body()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
