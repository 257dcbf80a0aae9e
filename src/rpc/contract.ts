/** RPC methods told as data: the typed client, the type that a service must implement, and the version check come from here. */

import type { RequestContext } from '../domain/context.ts'

export interface MethodSpec {
  /** RPC version that brought the method */
  readonly since: string
  /** version that a message needs when one of `newer` is sent */
  readonly withAll?: string
  readonly newer?: readonly string[]
  readonly kind?: 'call' | 'cast'
  readonly args: readonly string[]
  readonly defaults?: Readonly<Record<string, unknown>>
  /** what the service takes for arguments that clients leave out unless they were given */
  readonly serverDefaults?: Readonly<Record<string, unknown>>
  /** arguments that travel as versioned objects: argument, object name */
  readonly objects?: Readonly<Record<string, string>>
  /** name of the versioned object that comes back */
  readonly returns?: string
  /** declared errors that reach the caller as they are */
  readonly errors?: readonly string[]
}

export interface Method<A, R> extends MethodSpec {
  /** never set: carry the types */
  readonly argsType?: A
  readonly resultType?: R
}

export const method = <A, R>(spec: MethodSpec): Method<A, R> => spec

// oxlint-disable-next-line typescript/no-explicit-any -- any pair of argument and result
export type Methods = Record<string, Method<any, any>>

export interface Contract<M extends Methods = Methods> {
  readonly topic: string
  readonly version: string
  readonly methods: M
}

export const contract = <const M extends Methods>(topic: string, version: string, methods: M): Contract<M> => ({
  topic,
  version,
  methods,
})

type CallOf<M> = M extends Method<infer A, infer R> ? (context: RequestContext, args: A) => Promise<R> : never

/** What a caller has in hand: one function per method, for one target host. A cast resolves once it is sent. */
export type ClientOf<C> = C extends Contract<infer M> ? { readonly [K in keyof M]: CallOf<M[K]> } : never
/** What the called service implements. */
export type ServiceOf<C> = C extends Contract<infer M> ? { readonly [K in keyof M]: CallOf<M[K]> } : never

/** How messages get to a service. `host` null: any host that serves the topic. */
export interface Transport {
  client<M extends Methods>(contract: Contract<M>, host: string | null): ClientOf<Contract<M>>
  serve<M extends Methods>(
    contract: Contract<M>,
    host: string,
    service: ServiceOf<Contract<M>>,
  ): Promise<AsyncDisposable>
}
