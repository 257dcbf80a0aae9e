/**
 * Routes and fields, told as data. Paths, parameters, bodies and their microversions are declared here; checking, the version
 * gates, the OpenAPI document and the coverage tests come from these declarations, and handlers hold no version logic.
 */
import type { Config } from '../config/index.ts'
import type { Db } from '../db/database.ts'
import type { Clock } from '../domain/clock.ts'
import type { RequestContext } from '../domain/context.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { ConductorRouting } from '../rpc/routing.ts'
import type { Authorizer } from './authorizer.ts'
import type { JsonSchema, Members, Value } from './values.ts'

/** What every handler works with. */
export interface ApiParts {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly clock: Clock
  readonly conductors: ConductorRouting
  readonly policy: Authorizer
  /** hears of changes; without one nobody does */
  readonly notifier?: Pick<Notifier, 'emit'>
}

/** Microversions in which something exists: from `since` up to and including `until`. */
export interface Window {
  readonly since?: number
  readonly until?: number
}
export const isOpen = ({ since = 1, until = Infinity }: Window, minor: number): boolean =>
  minor >= since && minor <= until

export interface Parameter<T> extends Window {
  readonly value: Value<unknown>
  readonly required: boolean
  /** the answer when it is sent in a version that does not know it */
  readonly below: 400 | 404 | 406
  readonly fallback?: unknown
  /** never set: carries the type */
  readonly type?: T
}
// oxlint-disable-next-line typescript/no-explicit-any -- any parameter
export type Parameters = Readonly<Record<string, Parameter<any>>>

type Versions = Window & { below?: 400 | 404 | 406 }

/** A parameter that must be sent. */
export const required = <T>(value: Value<T>, versions: Versions = {}): Parameter<T> => ({
  below: 406,
  ...versions,
  value,
  required: true,
})
/** A parameter that may be left out, or null, which is the same. */
export const optional = <T>(value: Value<T>, versions: Versions = {}): Parameter<T | undefined> => ({
  below: 406,
  ...versions,
  value,
  required: false,
})
export const withFallback = <T>(value: Value<T>, fallback: T, versions: Versions = {}): Parameter<T> => ({
  below: 406,
  ...versions,
  value,
  required: false,
  fallback,
})

export type ArgumentsOf<P> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never
}

/** One request, as a handler sees it. */
export interface Call<A = Record<string, never>, B = undefined> {
  readonly api: ApiParts
  readonly context: RequestContext
  readonly minor: number
  /** the named segments of the path, decoded */
  readonly params: Readonly<Record<string, string>>
  /** the declared parameters, read */
  readonly args: A
  /** the declared body, read */
  readonly body: B
  /** where clients reach this service, without a trailing slash */
  readonly url: string
  readonly method: string
  /** a `.json` was cut from the path (below 1.91) */
  readonly jsonSuffix: boolean
}
// oxlint-disable-next-line typescript/no-explicit-any -- a call of any route
export type AnyCall = Call<any, any>

/** An answer that is more than a JSON value. */
export class Reply {
  readonly status: number | undefined
  /** text of the body; undefined: none */
  readonly text: string | Buffer | undefined
  readonly location: string | undefined
  readonly contentType: string

  constructor(
    text: string | Buffer | undefined,
    more: { status?: number; location?: string; contentType?: string } = {},
  ) {
    this.text = text
    this.status = more.status
    this.location = more.location
    this.contentType = more.contentType ?? 'application/json'
  }
}
/** JSON text that is sent as it is. */
export const jsonText = (text: string, more: { status?: number; location?: string } = {}): Reply =>
  new Reply(text, more)
/** An empty answer that tells where to look. */
export const at = (location: string): Reply => new Reply(undefined, { location })

/**
 * What a path answers in a version outside of its window: a handler's refusal with that status, a routing fault, or the path
 * does not exist in such a way that shorter paths take its segments.
 */
export type Outside = 400 | 404 | 405 | 406 | 'routing 404' | 'routing 405' | 'absent'

export interface RouteSpec<P extends Parameters, B> extends Window {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** literal segments and `:names` */
  readonly path: string
  /** status of success; 200 unless told */
  readonly status?: 200 | 201 | 202 | 204
  /** other versions that are served although outside of the window */
  readonly also?: readonly number[]
  readonly outside?: Outside
  /** the rules that are asked, in order */
  readonly policy: string | readonly string[]
  /** the handler asks the rules itself, because the target must be looked up first */
  readonly asks?: 'handler'
  /** parameters of the query string, and of the body when no `body` is declared */
  readonly args?: P
  /** parameters that are not declared are ignored rather than refused */
  readonly lenient?: boolean
  readonly body?: Value<B>
  /** the fields that the body is made of: those that are younger than the request are refused */
  readonly fields?: FieldTable
  /** it does something to the resource above rather than being one: its methods are not told in `Allow` */
  readonly action?: true
  /** path segments beyond the last one are refused with this status (400) */
  readonly extra?: 404
  /** one line for the OpenAPI document */
  readonly summary?: string
  /** what the answer is made of; without it only that it is JSON is told */
  readonly answer?: Described
  handler(call: Call<ArgumentsOf<P>, B>): unknown
}

export interface Route extends Window {
  readonly method: RouteSpec<Parameters, unknown>['method']
  readonly path: string
  readonly status: number
  readonly also: readonly number[]
  readonly outside: Outside
  readonly policies: readonly string[]
  readonly asksItself: boolean
  readonly args: Parameters
  readonly lenient: boolean
  readonly body: Value<unknown> | undefined
  readonly fields: FieldTable | undefined
  readonly extra: 400 | 404
  readonly action: boolean
  readonly summary: string | undefined
  readonly answer: Described | undefined
  readonly handler: (call: AnyCall) => unknown
}

/** Something whose JSON Schema in a version can be told: a view, a list of one. */
export interface Described {
  schema(minor: number): JsonSchema
}

/** Declares a route. */
export function route<const P extends Parameters = Record<string, never>, B = undefined>(spec: RouteSpec<P, B>): Route {
  const policies = typeof spec.policy === 'string' ? [spec.policy] : spec.policy
  return {
    ...(spec.since === undefined ? {} : { since: spec.since }),
    ...(spec.until === undefined ? {} : { until: spec.until }),
    method: spec.method,
    path: spec.path,
    status: spec.status ?? 200,
    also: spec.also ?? [],
    outside: spec.outside ?? 404,
    policies,
    asksItself: spec.asks === 'handler',
    args: spec.args ?? {},
    lenient: spec.lenient ?? false,
    body: spec.body,
    fields: spec.fields,
    extra: spec.extra ?? 400,
    action: spec.action ?? false,
    summary: spec.summary,
    answer: spec.answer,
    handler: (call) => spec.handler(call as Call<ArgumentsOf<P>, B>),
  }
}

/** As the `unset` of a field: whatever is sent for it counts as sent, null too. */
export const neverUnset: unique symbol = Symbol('never unset')

/** A field of a resource. */
export interface Field<T = unknown> extends Window {
  readonly value: Value<T>
  /** taken by POST */
  readonly create: boolean
  /** POST is refused without it */
  readonly mandatory: boolean
  /** taken by PATCH */
  readonly update: boolean
  /** shown in a list that names no fields */
  readonly list: boolean
  /** shown, and may be named in `fields` */
  readonly shown: boolean
  /** may be named in `fields` */
  readonly named: boolean
  /** what the column is called when it is not the field's name; null: made from something else */
  readonly column?: string | null
  /** what an old version sees instead of the value */
  readonly shownAs?: (value: unknown, minor: number) => unknown
  /** value sent in a create body that counts as not sent, in a version that does not know the field */
  readonly unset?: unknown
}
export type FieldTable = Readonly<Record<string, Field>>

type FieldOptions = Window & {
  on?: readonly ('create' | 'update')[]
  mandatory?: boolean
  list?: boolean
  shown?: boolean
  named?: boolean
  column?: string | null
  shownAs?: (value: unknown, minor: number) => unknown
  unset?: unknown
}

/** Declares a field: its value, in which bodies it may stand, and the microversion that brought it. */
export function field<T>(value: Value<T>, options: FieldOptions = {}): Field {
  const { on = [], mandatory = false, list = false, shown = true, named = shown, ...more } = options
  return {
    ...more,
    value,
    create: on.includes('create'),
    update: on.includes('update'),
    mandatory,
    list,
    shown,
    named,
  }
}

/** The members of a body that were sent: any of the table's. */
export type SentBody = Members
