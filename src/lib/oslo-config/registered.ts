import { ConfigError } from './errors.ts'
import type { ValueType } from './value-types.ts'

/** An option as the loader knows it: where it stands, what it was called, what it takes. */
export interface RegisteredOption {
  /** the name as declared; hyphens make the command-line spelling */
  readonly name: string
  /** the name in files, environment and program */
  readonly dest: string
  /** null is the group DEFAULT */
  readonly group: string | null
  readonly type: ValueType
  /** every setting counts, the value is a list of them */
  readonly multi: boolean
  readonly default: unknown
  readonly required: boolean
  readonly mutable: boolean
  readonly secret: boolean
  /** former names; a missing part is the option's own */
  readonly deprecated: readonly FormerName[]
  readonly deprecatedForRemoval: boolean
  readonly help: string | undefined
  /** null: the option cannot be given on the command line */
  readonly cli: CommandLineForm | null
}

export interface FormerName {
  readonly name?: string | undefined
  readonly group?: string | undefined
}

export interface CommandLineForm {
  readonly short?: string | undefined
  /** a flag, with `--no<name>` as its opposite */
  readonly flag: boolean
  readonly metavar?: string | undefined
}

export interface OptionDeclaration extends Partial<Omit<RegisteredOption, 'name' | 'type'>> {
  readonly name: string
  readonly type: ValueType
}

/**
 * Fills in what a declaration leaves out and checks its stock value.
 *
 * @throws ConfigError DefaultValueError when the stock value does not fit the option's own type; ValueError for an illegal name
 */
export function registered(declaration: OptionDeclaration): RegisteredOption {
  const { name, type } = declaration
  if (name.startsWith('_')) throw new ConfigError('ValueError', `the option name ${name} must not start with _`)
  const former = [...(declaration.deprecated ?? [])]
  for (const entry of declaration.deprecated ?? []) {
    if (entry.name?.includes('-') !== true) continue
    const name = entry.name.replaceAll('-', '_')
    if (!former.some((known) => known.name === name && known.group === entry.group))
      former.push({ name, group: entry.group })
  }
  const option: RegisteredOption = {
    dest: name.replaceAll('-', '_'),
    group: null,
    multi: false,
    default: null,
    required: false,
    mutable: false,
    secret: false,
    deprecatedForRemoval: false,
    help: undefined,
    cli: null,
    ...declaration,
    deprecated: former,
  }
  if (option.default !== null && !refersToOthers(option.default)) {
    try {
      type.convert(option.default)
    } catch (cause) {
      throw new ConfigError(
        'DefaultValueError',
        `the stock value of option ${name} does not fit: it must be ${type.allowed}`,
        {
          cause,
        },
      )
    }
  }
  return option
}

/** A stock value such as `$my_ip` is looked at only when it is read. */
function refersToOthers(value: unknown): boolean {
  return typeof value === 'string' && value.replaceAll('\\$', '').replaceAll('$$', '').includes('$')
}

/** The two are one option declared twice. */
export function sameOption(a: RegisteredOption, b: RegisteredOption): boolean {
  const plain = (option: RegisteredOption) => JSON.stringify({ ...option, type: option.type.allowed })
  return plain(a) === plain(b)
}

/** `[group]name`, as operators write it. */
export const titled = (option: { group: string | null; dest: string }) => `[${option.group ?? 'DEFAULT'}]${option.dest}`
