/**
 * Options as data. A group is a table of options; the type of the whole configuration follows from the tables.
 * Kinds and their rules are those of oslo.config's `cfg` and `types` modules.
 */

import type { NumberRange } from './value-types.ts'

export type OptionKind =
  | 'str'
  | 'int'
  | 'float'
  | 'bool'
  | 'list'
  | 'dict'
  | 'multistr'
  | 'multidict'
  | 'port'
  | 'ip'
  | 'hostaddress'
  | 'uri'
  | 'octal'
  | 'choice'
  | 'kernel-parameters'

/** What an item of a list must be; `str` unless told. */
export type ItemKind = 'str' | 'int' | 'port-range' | 'absolute-path'

export interface OptionSpec<D> {
  readonly default?: D
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly (string | null)[]
  readonly schemes?: readonly string[]
  /** upper and lower case of a choice are the same */
  readonly ignoreCase?: boolean
  /** the command line may give it, and how */
  readonly cli?: { readonly short?: string; readonly metavar?: string }
  readonly items?: ItemKind
  readonly itemChoices?: readonly string[]
  /** values of a dict may stand in quotes (oslo.config `quotes=True`) */
  readonly quotes?: boolean
  readonly secret?: boolean
  readonly mutable?: boolean
  readonly required?: boolean
  readonly advanced?: boolean
  /** former names as `group/name`; `(same)` for the part that did not change */
  readonly deprecated?: readonly string[]
  readonly deprecatedForRemoval?: boolean
  /** the name in the file when it is not the key (`auth-url`, key `auth_url`) */
  readonly name?: string
  /** what the documentation shows where the default depends on the host */
  readonly sampleDefault?: string
  readonly help?: string
}

export interface Option<T> extends OptionSpec<unknown> {
  readonly kind: OptionKind
  /** never set: carries the type of the value */
  readonly valueType?: T
}

type Filled<T, D> = D extends null ? T | null : T
type Kind = <T>() => <const D extends T | null = null>(spec?: OptionSpec<D>) => Option<Filled<T, D>>

const kind =
  (name: OptionKind): ReturnType<Kind> =>
  (spec = {}) => ({ ...spec, kind: name })
const of = <T>(name: OptionKind) =>
  kind(name) as unknown as <const D extends T | null = null>(spec?: OptionSpec<D>) => Option<Filled<T, D>>

export const str = of<string>('str')
/** A text that must be a kernel command line, unless `[conductor]disable_kernel_parameter_parsing` is set. */
export const kernelParameters = of<string>('kernel-parameters')
export const int = of<number>('int')
export const float = of<number>('float')
export const bool = of<boolean>('bool')
export const port = of<number>('port')
export const ip = of<string>('ip')
export const hostAddress = of<string>('hostaddress')
export const uri = of<string>('uri')
/** A file mode, written in octal; the value is a number. */
export const octal = of<number>('octal')
export const list = (spec: OptionSpec<readonly (string | number)[] | null> = {}) =>
  ({ ...spec, kind: 'list' }) as Option<string[]>
/** The same, where the stock value is "not set" rather than an empty list. */
export const optionalList = (spec: OptionSpec<readonly string[] | null> = {}) =>
  ({ ...spec, kind: 'list' }) as Option<string[] | null>
/** A list of whole numbers, unset unless told. */
export const optionalInts = (spec: OptionSpec<readonly number[] | null> = {}) =>
  ({ ...spec, kind: 'list', items: 'int' }) as Option<number[] | null>
/** A list of `<start>:<end>`, unset unless told. */
export const portRanges = (spec: OptionSpec<readonly string[] | null> = {}) =>
  ({ ...spec, kind: 'list', items: 'port-range' }) as Option<NumberRange[] | null>
export const dict = (spec: OptionSpec<Readonly<Record<string, string>>> = {}) =>
  ({ default: {}, ...spec, kind: 'dict' }) as Option<Record<string, string>>
/** An option that may stand several times; each line is one member. */
export const multiStr = (spec: OptionSpec<readonly string[]> = {}) =>
  ({ default: [], ...spec, kind: 'multistr' }) as Option<string[]>
/** An option that may stand several times, each line a dict; the value is all of them. */
export const multiDict = (spec: OptionSpec<Readonly<Record<string, string>>> = {}) =>
  ({ ...spec, kind: 'multidict' }) as Option<Record<string, string>[]>
/** One of the given words. */
export const oneOf = <const C extends readonly (string | null)[], const D extends C[number] | null = null>(
  choices: C,
  spec: Omit<OptionSpec<D>, 'choices'> = {},
) => ({ ...spec, choices, kind: 'choice' }) as Option<C[number] | (D extends null ? null : never)>

export interface OptionGroup<O extends Record<string, Option<unknown>> = Record<string, Option<unknown>>> {
  readonly name: string
  readonly options: O
}

export function optionGroup<const O extends Record<string, Option<unknown>>>(name: string, options: O): OptionGroup<O> {
  return { name, options }
}

type ValueOf<O> = O extends Option<infer T> ? T : never

/** The configuration that a table of groups describes: `config.redfish.auth_type`. */
export type ConfigOf<G extends Record<string, OptionGroup>> = {
  -readonly [K in keyof G]: { -readonly [O in keyof G[K]['options']]: ValueOf<G[K]['options'][O]> }
}
