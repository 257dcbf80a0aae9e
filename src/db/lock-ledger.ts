import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './database.ts'

/**
 * The locks that this process knows to hold, and how many it is reaching for. Only when the answer of the database is lost does it
 * matter: the row then says the name of this host, but not which of its tasks took the lock. No other process uses that name.
 */
export class LockLedger {
  readonly #held = new Map<number, symbol>()
  #reaching = 0

  /** Runs an attempt at a lock. */
  async reaching<T>(attempt: () => Promise<T>): Promise<T> {
    this.#reaching += 1
    try {
      return await attempt()
    } finally {
      this.#reaching -= 1
    }
  }

  /** The database gave the lock. */
  took(node: number): void {
    this.#held.set(node, Symbol('lock'))
  }

  gave(node: number): void {
    this.#held.delete(node)
  }

  /** Which of our holds of that node it is. */
  hold(node: number): symbol | undefined {
    return this.#held.get(node)
  }

  /** Waits until all other attempts know what they got: then whoever is left without an answer may ask the row. */
  async settled(): Promise<void> {
    for (let tries = 0; this.#reaching > 0 && tries < 100; tries += 1) await sleep(50)
  }
}

const ledgers = new WeakMap<Db, LockLedger>()

export function ledgerOf(db: Db): LockLedger {
  let ledger = ledgers.get(db)
  if (ledger === undefined) ledgers.set(db, (ledger = new LockLedger()))
  return ledger
}
