/**
 * Errors that a peer can see. The name and the code are Ironic's (they travel as the class of a remote error and as the
 * HTTP status); the sentence is ours.
 */

export type ErrorParams = Readonly<Record<string, unknown>>

/** `cause` stays on our side of the wire. `code` overrides the status of the class, as real Ironic allows. */
export interface ErrorExtras {
  readonly cause?: unknown
  readonly code?: number
}

/** The root of all declared errors; real Ironic's `IronicException`. */
export class IronicError extends Error {
  static readonly wireName: string = 'IronicException'
  static readonly status: number = 500
  /** HTTP status, and `error.code` of JSON-RPC. */
  readonly code: number
  readonly params: ErrorParams

  constructor(what: string | ErrorParams = {}, extras: ErrorExtras = {}) {
    const self = new.target as typeof IronicError & { sentence?: (params: ErrorParams) => string }
    super(typeof what === 'string' ? what : (self.sentence?.(what) ?? 'An unknown error occurred.'), {
      cause: extras.cause,
    })
    this.name = self.wireName
    this.code = extras.code ?? self.status
    this.params = typeof what === 'string' ? {} : what
  }

  /** The dotted path that a Python peer knows the class by. */
  get wireClass(): string {
    return `ironic.common.exception.${this.name}`
  }
}

export interface ErrorClass<P extends ErrorParams = ErrorParams> {
  new (what: P | string, extras?: ErrorExtras): IronicError
  readonly wireName: string
  readonly status: number
}

const classes = new Map<string, ErrorClass>([['IronicException', IronicError]])

/** The declared error of that name, for an error that came over the wire. */
export const errorNamed = (name: string): ErrorClass | undefined => classes.get(name)
/** All declared errors by name. */
export const declaredErrors = (): ReadonlyMap<string, ErrorClass> => classes

/**
 * Declares an error.
 * @param name the class name that peers see
 * @param kind its HTTP status, or the class it is a kind of (then the status is that class's)
 * @param sentence what a person reads: names the thing, and what to do. A string given to the constructor replaces it.
 */
export function defineError<P extends ErrorParams = ErrorParams>(
  name: string,
  kind: number | ErrorClass<never>,
  sentence: (params: P) => string,
  parent: ErrorClass<never> = typeof kind === 'number' ? IronicError : kind,
): ErrorClass<P> {
  const status = typeof kind === 'number' ? kind : kind.status
  const Declared = class extends (parent as unknown as typeof IronicError) {
    static override readonly wireName = name
    static override readonly status = status
    static readonly sentence = sentence
  }
  Object.defineProperty(Declared, 'name', { value: name })
  classes.set(name, Declared)
  return Declared
}
