/**
 * Versioned objects told as data (oslo.versionedobjects on the wire). One table feeds the database codec, REST, RPC and
 * notifications: the type of a row, the version that brought each field, and what an older peer means by its absence.
 */

export type FieldType =
  | 'int'
  | 'text'
  | 'uuid'
  | 'mac'
  | 'dict'
  | 'time'
  | 'bool'
  | 'dicts'
  | 'texts'
  | 'object'
  | 'objects'

export interface Field<T> {
  readonly type: FieldType
  readonly nullable: boolean
  /** object name of `object` and `objects` */
  readonly of?: string
  /** object version that brought the field; absent: all versions */
  readonly since?: string
  /** value that an older peer means by leaving the field out */
  readonly before?: unknown
  /** an older release finds the column as it is, not emptied */
  readonly keptInDatabase?: boolean
  readonly default?: unknown
  /** never set: carries the type of the value */
  readonly valueType?: T
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
// oxlint-disable-next-line typescript/no-explicit-any -- free-form JSON that users and drivers own
export type JsonDict = Record<string, any>

const field = <T>(type: FieldType): Field<T> => ({ type, nullable: false })

export const Int = field<number>('int')
export const Text = field<string>('text')
export const Uuid = field<string>('uuid')
export const Mac = field<string>('mac')
export const Dict = field<JsonDict>('dict')
export const Time = field<Date>('time')
export const Bool = field<boolean>('bool')
export const Dicts = field<JsonDict[]>('dicts')
export const Texts = field<string[]>('texts')
/** One nested object; its data is the list of its members' data (`TraitList`: the traits). */
export const nested = (of: string): Field<JsonDict[]> => ({ ...field<JsonDict[]>('object'), of })
export const listOf = (of: string): Field<JsonDict[]> => ({ ...field<JsonDict[]>('objects'), of })

export const nullable = <T>(f: Field<T>): Field<T | null> => ({ ...f, nullable: true })
export const withDefault = <T>(f: Field<T>, value: unknown): Field<T> => ({ ...f, default: value })
/** The field came with that version; `before` is what its absence means. */
export const at = <T>(f: Field<T>, since: string, before: unknown, more: Partial<Field<T>> = {}): Field<T> => ({
  ...f,
  ...more,
  since,
  before,
})

export interface VersionedObject<F extends Record<string, Field<unknown>> = Record<string, Field<unknown>>> {
  readonly name: string
  readonly version: string
  /** versions of earlier releases that this one understands, oldest first */
  readonly accepts: readonly string[]
  readonly fields: F
}

export function versionedObject<const F extends Record<string, Field<unknown>>>(
  name: string,
  version: string,
  fields: F,
  { accepts = [version] }: { accepts?: readonly string[] } = {},
): VersionedObject<F> {
  return { name, version, accepts, fields }
}

/** The plain data of an object: wire names, parsed JSON, `Date` for times. */
export type ObjectData<O> =
  O extends VersionedObject<infer F> ? { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never } : never

/** An object as an RPC argument: the data, and which fields the sender changed. */
export interface WithChanges<T> {
  readonly data: T
  readonly changes: readonly (keyof T & string)[]
}
