/**
 * What we read of a resource, told as data. A BMC's JSON is not trusted: a property that is absent, null or of another type
 * reads as `undefined`, whatever the schema says, and the caller decides whether it can do without (most can).
 */

/** Reads a value of JSON; `undefined` when it is not what was expected. */
export type Reader<T> = (value: unknown) => T | undefined

export type Shape = Readonly<Record<string, Reader<unknown>>>
/** The typed view of a JSON object: names as on the wire, everything optional. */
export type Data<S extends Shape> = { readonly [K in keyof S]: (S[K] extends Reader<infer T> ? T : never) | undefined }

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined)
export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)
/** A number; BMCs also write them as text. */
export const number: Reader<number> = (value) => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}
export const anything: Reader<unknown> = (value) => value ?? undefined
export const dictionary: Reader<JsonObject> = (value) => (isObject(value) ? value : undefined)
export const oneOf =
  <const V extends string>(...values: V[]): Reader<V> =>
  (value) =>
    values.find((known) => known === value)
export const listOf =
  <T>(reader: Reader<T>): Reader<readonly T[]> =>
  (value) =>
    Array.isArray(value) ? value.map(reader).filter((item) => item !== undefined) : undefined
export const object =
  <const S extends Shape>(shape: S): Reader<Data<S>> =>
  (value) =>
    isObject(value) ? view(shape, value) : undefined
/** A reference to another resource: its path. */
export const link: Reader<string> = (value) => {
  const path = isObject(value) ? value['@odata.id'] : undefined
  return typeof path === 'string' && path !== '' ? path : undefined
}
/** References to other resources: their paths. */
export const links: Reader<readonly string[]> = listOf(link)

/** An action: where it is posted to, and what the BMC says that it takes. */
export interface Action {
  readonly target: string
  /** parameter name to its allowable values, where told in line (`X@Redfish.AllowableValues`) */
  readonly allowable: Readonly<Record<string, readonly string[]>>
  /** path of the resource that tells them instead */
  readonly actionInfo: string | undefined
}

const allowableSuffix = '@Redfish.AllowableValues'

export const action: Reader<Action> = (value) => {
  if (!isObject(value) || typeof value['target'] !== 'string') return undefined
  const allowable = Object.entries(value)
    .filter(([name, values]) => name.endsWith(allowableSuffix) && Array.isArray(values))
    .map(([name, values]) => [
      name.slice(0, -allowableSuffix.length),
      (values as unknown[]).filter((each) => typeof each === 'string'),
    ])
  const info = value['@Redfish.ActionInfo']
  return {
    target: value['target'],
    allowable: Object.fromEntries(allowable) as Record<string, string[]>,
    actionInfo: typeof info === 'string' ? info : undefined,
  }
}

/** The typed view of a JSON object. */
export function view<S extends Shape>(shape: S, json: JsonObject): Data<S> {
  const entries = Object.entries(shape).map(([name, read]) => [
    name,
    Object.hasOwn(json, name) && json[name] !== null ? read(json[name]) : undefined,
  ])
  return Object.fromEntries(entries) as Data<S>
}

/** A type of resource: its name in the schema, and what we read of it. */
export interface ResourceKind<S extends Shape = Shape> {
  readonly name: string
  readonly shape: S
}

export const resourceKind = <const S extends Shape>(name: string, shape: S): ResourceKind<S> => ({ name, shape })
