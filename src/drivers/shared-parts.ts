import type { DriverParts } from './task.ts'

/** Something that the drivers of a family share in one conductor: connections, a cache, a queue. */
export interface SharedPart {
  /** Lets go of what it holds. Called once, when the conductor stops. */
  close?(): Promise<void>
}

/**
 * What drivers of one conductor share with one another, made when first asked for. The conductor makes one of these, hands it to
 * its drivers with the other parts, and closes it at the end. (A driver is built without knowing its siblings, and a module must
 * not hold state.)
 */
export class SharedParts {
  private readonly made = new Map<unknown, SharedPart>()

  /** The one instance of that class. */
  of<T extends SharedPart>(Part: new (parts: DriverParts) => T, parts: DriverParts): T {
    const known = this.made.get(Part) as T | undefined
    if (known !== undefined) return known
    const part = new Part(parts)
    this.made.set(Part, part)
    return part
  }

  async close(): Promise<void> {
    const parts = [...this.made.values()]
    this.made.clear()
    await Promise.all(parts.map(async (part) => part.close?.()))
  }
}
