/** What a BMC does instead of its duty. */
export type FaultAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** takes the request and never answers, until the client gives up or the BMC ends */
  | 'hang'
  /** cuts the connection without an answer */
  | 'reset'
  /** answers as usual (for a delay or an effect alone) */
  | 'pass'

/** One rule of the fault table of a BMC. */
export interface FaultRule {
  /** all methods when left out */
  readonly method?: string
  /** matched against the path with its query */
  readonly path: RegExp
  /** requests that pass before the first one fails */
  readonly after?: number
  /** how many requests fail; all when left out */
  readonly times?: number
  /** milliseconds before anything happens */
  readonly delay?: number
  readonly answer: FaultAnswer
  /** is done to the BMC when the rule acts */
  readonly effect?: 'lose sessions' | 'refuse logins' | 'allow logins'
}

/** A rule with its counters. */
export interface ActiveFault {
  readonly rule: FaultRule
  /** requests that fitted */
  seen: number
  /** requests that were harmed */
  acted: number
}

/** The fault table: the first rule that fits and is not used up acts. */
export class FaultTable {
  readonly #faults: ActiveFault[] = []

  /** Adds a rule behind the others; its counters tell how often it acted. */
  add(rule: FaultRule): ActiveFault {
    const fault = { rule, seen: 0, acted: 0 }
    this.#faults.push(fault)
    return fault
  }

  clear(): void {
    this.#faults.length = 0
  }

  match(method: string, path: string): FaultRule | undefined {
    for (const fault of this.#faults) {
      const { rule } = fault
      if (rule.method !== undefined && rule.method !== method) continue
      if (!rule.path.test(path)) continue
      if (rule.times !== undefined && fault.acted >= rule.times) continue
      fault.seen++
      if (fault.seen <= (rule.after ?? 0)) continue
      fault.acted++
      return rule
    }
    return undefined
  }
}
