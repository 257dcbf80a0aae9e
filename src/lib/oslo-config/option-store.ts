import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { argumentRules, refuseSameSpelling } from './argument-rules.ts'
import { type ArgumentRule, type CommandLineSpec, parseCommandLine } from './command-line.ts'
import { CommandLineExit, ConfigError, isKind, isValueError } from './errors.ts'
import { expandHome } from './find-files.ts'
import { parseIni } from './ini.ts'
import { type Found, Namespace, type Origin, originText } from './namespace.ts'
import { pythonText } from './python-text.ts'
import { type RegisteredOption, sameOption, titled } from './registered.ts'
import { substitute } from './template.ts'
import type { ConversionContext } from './value-types.ts'

export interface LoadInput {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** read unless the command line names files; every one must exist */
  readonly defaultFiles: readonly string[]
  /** read unless the command line names folders; may be missing */
  readonly defaultDirs: readonly string[]
  /** printed by `--version` */
  readonly version?: string | undefined
  readonly description?: string | undefined
  readonly command?: CommandLineSpec['command']
  /** refuse to go on when an option marked as required has no value */
  readonly checkRequired?: boolean
}

interface Entry {
  readonly option: RegisteredOption
  fallback?: { readonly value: unknown }
  override?: { readonly value: unknown }
}

export interface Read {
  readonly value: unknown
  readonly origin: Origin
}

/**
 * Options and what files, environment and command line say about them, with the precedence of oslo.config: override,
 * command line, environment, files (last wins), default.
 */
export class OptionStore {
  private readonly entries = new Map<string, Map<string, Entry>>([['DEFAULT', new Map()]])
  private namespace = new Namespace()
  private env: NodeJS.ProcessEnv = {}
  private input: LoadInput | undefined
  private readonly reading: string[] = []
  private readonly context: ConversionContext = { read: (group, option) => this.get(option, group) }

  /** @throws ConfigError DuplicateOptError when another option has that name already */
  define(option: RegisteredOption): void {
    const group = this.entries.get(option.group ?? 'DEFAULT') ?? new Map<string, Entry>()
    this.entries.set(option.group ?? 'DEFAULT', group)
    const before = group.get(option.dest)
    if (before === undefined) group.set(option.dest, { option })
    else if (!sameOption(before.option, option)) {
      throw new ConfigError('DuplicateOptError', `option ${titled(option)} is declared twice, differently`)
    }
  }

  options(): RegisteredOption[] {
    return [...this.entries.values()].flatMap((group) => [...group.values()].map((entry) => entry.option))
  }

  /** What was read last; for lists of files, unknown settings and former names. */
  get source(): Namespace {
    return this.namespace
  }

  /**
   * Reads the command line and the files it names, or the default ones.
   *
   * @returns the command and its arguments, when one is expected
   * @throws ConfigError for files that are missing or cannot be parsed; CommandLineExit for the command line
   */
  load(input: LoadInput): readonly string[] {
    this.env = input.env
    this.input = input
    const { namespace, rest } = this.readSources(input)
    this.namespace = namespace
    if (input.checkRequired !== false) this.checkRequired()
    return rest
  }

  /** Reads everything anew; on a fault the values of before stay. */
  reload(): void {
    if (this.input === undefined) throw new Error('reload comes after load')
    this.namespace = this.readSources(this.input).namespace
  }

  /** Goes back to what had been read before a `reload`. */
  restore(namespace: Namespace): void {
    this.namespace = namespace
  }

  private readSources(input: LoadInput): { namespace: Namespace; rest: readonly string[] } {
    const namespace = new Namespace()
    const cliOptions = this.options().filter((option) => option.cli !== null)
    const names = (flag: string) => input.args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))
    if (!names('--config-file')) for (const file of input.defaultFiles) this.readFile(namespace, file, cliOptions)
    if (!names('--config-dir')) for (const dir of input.defaultDirs) this.readFolder(namespace, dir, cliOptions)

    const rules = [
      ...this.sourceRules(namespace, input, cliOptions),
      ...cliOptions.flatMap((o) => argumentRules(o, namespace)),
    ]
    refuseSameSpelling(rules)
    const rest = parseCommandLine({ ...input, rules }, input.args)
    this.checkArguments(namespace, cliOptions)
    if (namespace.filesNotFound.length > 0) {
      throw new ConfigError(
        'ConfigFilesNotFoundError',
        `these configuration files do not exist: ${namespace.filesNotFound.join(', ')}`,
      )
    }
    if (namespace.filesNotAllowed.length > 0) {
      throw new ConfigError(
        'ConfigFilesPermissionDeniedError',
        `this user may not read these configuration files: ${namespace.filesNotAllowed.join(', ')}`,
      )
    }
    return { namespace, rest }
  }

  private sourceRules(namespace: Namespace, input: LoadInput, cliOptions: readonly RegisteredOption[]): ArgumentRule[] {
    const rules: ArgumentRule[] = [
      {
        spellings: ['--config-file'],
        takesValue: true,
        metavar: 'PATH',
        help: 'a configuration file; may stand several times, later files win',
        apply: (path) => this.readFile(namespace, path!, cliOptions),
      },
      {
        spellings: ['--config-dir'],
        takesValue: true,
        metavar: 'DIR',
        help: 'a folder whose *.conf files are read in the order of their names',
        apply: (given) => {
          const dir = expandHome(given!, this.env)
          namespace.configDirs.push(given!)
          if (!existsSync(dir))
            throw new ConfigError('ConfigDirNotFoundError', `the folder ${dir} given with --config-dir does not exist`)
          this.readFolder(namespace, dir, cliOptions)
        },
      },
    ]
    if (input.version !== undefined) {
      rules.push({
        spellings: ['--version'],
        takesValue: false,
        help: "show program's version number and exit",
        apply: () => {
          throw new CommandLineExit(0, `${input.version}\n`)
        },
      })
    }
    return rules
  }

  private readFolder(namespace: Namespace, dir: string, cliOptions: readonly RegisteredOption[]): void {
    if (!existsSync(dir)) return
    const files = readdirSync(dir).filter((name) => name.endsWith('.conf') && !name.startsWith('.'))
    // oslo.config sorts by code point, so 10.conf comes before 9.conf and B.conf before a.conf.
    for (const name of files.sort((a, b) => (a < b ? -1 : 1))) this.readFile(namespace, join(dir, name), cliOptions)
  }

  private readFile(namespace: Namespace, given: string, cliOptions: readonly RegisteredOption[]): void {
    const path = resolve(expandHome(given, this.env))
    let bytes: Buffer
    try {
      bytes = readFileSync(path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT') namespace.filesNotFound.push(path)
      else if (code === 'EACCES') namespace.filesNotAllowed.push(path)
      else
        throw new ConfigError('ConfigFileParseError', `${path} cannot be read: ${(error as Error).message}`, {
          cause: error,
        })
      return
    }
    namespace.addFile(parseIni(path, decode(path, bytes)), cliOptions)
  }

  /** Options of the command line are checked at once, wherever they were set. */
  private checkArguments(namespace: Namespace, cliOptions: readonly RegisteredOption[]): void {
    for (const option of cliOptions.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const found = namespace.find(option)
      if (found === undefined) continue
      try {
        this.convert(option, found.value, namespace)
      } catch (error) {
        if (!isValueError(error)) throw error
        throw new CommandLineExit(
          1,
          `option --${option.name} from ${originText(found.origin)} has the value ${quotedValue(option, found.value)}: ${error.message}\n`,
        )
      }
    }
  }

  private checkRequired(): void {
    for (const group of this.entries.values()) {
      for (const { option, fallback, override } of group.values()) {
        if (!option.required || fallback !== undefined || override !== undefined) continue
        if (this.read(option.dest, option.group).value === null) {
          throw new ConfigError('RequiredOptError', `option ${titled(option)} must be set`)
        }
      }
    }
  }

  /** The value by the program's own name, as `oslo.config` attributes are read. @throws ConfigError */
  get(name: string, group: string | null = null): unknown {
    const wanted = group === 'DEFAULT' ? null : group
    if (wanted !== null) {
      if (!this.entries.has(wanted)) throw new ConfigError('NoSuchOptError', `there is no option group [${wanted}]`)
      return this.read(name, wanted).value
    }
    try {
      return this.read(name, null).value
    } catch (error) {
      if (isValueError(error) || isKind(error, 'NoSuchOptError')) throw error
      throw new ConfigError('NoSuchOptError', `option [DEFAULT]${name} cannot be read: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  /** Value and place of an option. @throws ConfigError */
  read(name: string, group: string | null, namespace: Namespace = this.namespace): Read {
    const entry = this.entryOf(name, group)
    const { option } = entry
    const key = titled(option)
    if (this.reading.includes(key)) {
      throw new ConfigError('RecursionError', `option ${key} refers to itself: ${[...this.reading, key].join(' -> ')}`)
    }
    this.reading.push(key)
    try {
      return this.resolve(entry, namespace)
    } finally {
      this.reading.pop()
    }
  }

  private resolve(entry: Entry, namespace: Namespace): Read {
    const { option } = entry
    if (entry.override !== undefined) {
      return { value: this.substituteAll(entry.override.value, null, namespace), origin: { from: 'default' } }
    }
    const found = namespace.find(option)
    const variable = environmentName(option)
    const fromEnv = this.env[variable]
    if (found !== undefined && (found.precedence === 'command line' || fromEnv === undefined)) {
      return this.converted(option, found, found.precedence === 'file', namespace)
    }
    if (fromEnv !== undefined) {
      const origin: Origin = { from: 'environment', variable }
      return this.converted(
        option,
        { value: fromEnv, precedence: 'environment', origin },
        found !== undefined,
        namespace,
      )
    }
    if (entry.fallback !== undefined) {
      return { value: this.substituteAll(entry.fallback.value, null, namespace), origin: { from: 'default' } }
    }
    if (option.default === null) return { value: null, origin: { from: 'default' } }
    return { value: this.convert(option, option.default, namespace), origin: { from: 'default' } }
  }

  private converted(option: RegisteredOption, found: Found, fileHasIt: boolean, namespace: Namespace): Read {
    try {
      return { value: this.convert(option, found.value, namespace), origin: found.origin }
    } catch (error) {
      if (!isValueError(error)) throw placed(error, option, found)
      // What another option's value lacks is that option's fault and already names it.
      if (error.kind !== 'ValueError') throw new ConfigError(error.kind, error.message, { cause: error })
      throw new ConfigError(
        fileHasIt ? 'ConfigFileValueError' : 'ConfigSourceValueError',
        `${originText(found.origin)}: option ${titled(option)} has the value ${quotedValue(option, found.value)}: ${error.message}`,
        { cause: error },
      )
    }
  }

  private convert(option: RegisteredOption, value: unknown, namespace: Namespace): unknown {
    const filled = this.substituteAll(value, option.group, namespace)
    return this.enforce(option, filled)
  }

  private enforce(option: RegisteredOption, value: unknown): unknown {
    if (!option.multi) return option.type.convert(value, this.context)
    const items =
      typeof value === 'string' ? Array.from(value) : Array.isArray(value) ? value : Object.keys(value as object)
    return items.map((item) => option.type.convert(item, this.context))
  }

  private substituteAll(value: unknown, group: string | null, namespace: Namespace): unknown {
    if (typeof value === 'string') {
      return value.includes('$') ? substitute(value, (name) => this.textOf(name, group, namespace)) : value
    }
    if (Array.isArray(value)) return value.map((item) => this.substituteAll(item, group, namespace))
    if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          this.substituteAll(key, group, namespace),
          this.substituteAll(item, group, namespace),
        ]),
      )
    }
    return value
  }

  /** The text that `$name` stands for: an option of the same group, of the named group, or of DEFAULT. */
  private textOf(name: string, group: string | null, namespace: Namespace): string | undefined {
    const dot = name.indexOf('.')
    const option = dot < 0 ? name : name.slice(dot + 1)
    const inGroup = dot < 0 ? group : name.slice(0, dot)
    try {
      return this.readText(option, inGroup, namespace)
    } catch (error) {
      if (isKind(error, 'KeyError')) return undefined
      if (!isKind(error, 'NoSuchOptError')) throw error
    }
    try {
      return this.readText(name, null, namespace)
    } catch (error) {
      if (isKind(error, 'KeyError')) return undefined
      throw error
    }
  }

  private readText(name: string, group: string | null, namespace: Namespace): string {
    if (group === null && name !== 'DEFAULT' && this.entries.has(name)) {
      throw new ConfigError('TemplateSubstitutionError', `$${name} is a group of options, not an option`)
    }
    const { value } = this.read(name, group, namespace)
    if (value === null) return ''
    const { option } = this.entryOf(name, group)
    return option.multi || option.type.text === undefined ? pythonText(value) : option.type.text(value)
  }

  private entryOf(name: string, group: string | null): Entry {
    // The name DEFAULT is no group to refer to, although it heads the section of the options without one.
    const options = group === 'DEFAULT' ? undefined : this.entries.get(group ?? 'DEFAULT')
    if (options === undefined) throw new ConfigError('NoSuchGroupError', `there is no option group [${group}]`)
    const entry = options.get(name)
    if (entry !== undefined) return entry
    const successor = this.options().findLast((option) =>
      option.deprecated.some(
        (former) =>
          (former.group ?? 'DEFAULT') === (group ?? 'DEFAULT') &&
          (former.name ?? option.dest).replaceAll('-', '_') === name,
      ),
    )
    if (successor === undefined) {
      throw new ConfigError('NoSuchOptError', `there is no option ${titled({ group, dest: name })}`)
    }
    const renamed = (successor.group === null ? options : this.entries.get(successor.group)!).get(successor.name)
    if (renamed === undefined) throw new ConfigError('KeyError', successor.name)
    return renamed
  }

  /** Gives an option another stock value. @throws ConfigError NoSuchOptError, ValueError */
  setDefault(name: string, value: unknown, group: string | null = null): void {
    const entry = this.entryOf(name, group)
    entry.fallback = { value: value === null ? null : this.enforce(entry.option, value) }
  }

  /** Gives an option a value that nothing else can change. @throws ConfigError NoSuchOptError, ValueError */
  setOverride(name: string, value: unknown, group: string | null = null): void {
    const entry = this.entryOf(name, group)
    entry.override = { value: value === null ? null : this.enforce(entry.option, value) }
  }
}

const environmentName = (option: RegisteredOption) =>
  `OS_${(option.group ?? 'DEFAULT').toUpperCase()}__${option.dest.toUpperCase()}`

/** Never shows a secret. */
export const quotedValue = (option: RegisteredOption, value: unknown) =>
  option.secret ? '(hidden, it is a secret)' : JSON.stringify(Array.isArray(value) ? value.join('\n') : value)

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new ConfigError('UnicodeDecodeError', `${path} is not in UTF-8: save it in that encoding`, { cause })
  }
}

/** A value that refers to what does not exist, told with the place where it stands; anything else as it is. */
function placed(error: unknown, option: RegisteredOption, found: Found): unknown {
  const refers = ['NoSuchOptError', 'NoSuchGroupError', 'TemplateSubstitutionError'] as const
  if (!refers.some((kind) => isKind(error, kind)) || (error as ConfigError).cause !== undefined) return error
  const { kind, message } = error as ConfigError
  const place = `${originText(found.origin)}: option ${titled(option)} has the value ${quotedValue(option, found.value)}`
  return new ConfigError(kind, `${place}: ${message}`, { cause: error })
}
