import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CommandLineSpec } from './command-line.ts'
import { ConfigError } from './errors.ts'
import { registeredOptions } from './from-table.ts'
import { expandHome, findIn, searchFolders } from './find-files.ts'
import { type Namespace, namesOf, normalizedGroup, type Origin, originText } from './namespace.ts'
import { nearest } from './nearest.ts'
import { OptionStore } from './option-store.ts'
import type { ConfigOf, OptionGroup } from './options.ts'
import { type RegisteredOption, titled } from './registered.ts'

export interface LoadConfigInput {
  readonly program: string
  /** names the folders that configuration is looked for in: `/etc/<project>` */
  readonly project: string
  /** without node and the script */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly defaultFiles: readonly string[]
  readonly defaultDirs: readonly string[]
  readonly version?: string
  readonly description?: string
  readonly command?: CommandLineSpec['command']
  /** stock values that depend on the host, by `group/name` */
  readonly hostDefaults?: Readonly<Record<string, unknown>>
}

export interface EffectiveOption {
  readonly option: RegisteredOption
  readonly value: unknown
  readonly origin: Origin
}

export interface LoadedConfig<G extends Record<string, OptionGroup>> {
  /** the values; mutable ones change in place on `reload` */
  readonly config: ConfigOf<G>
  /** the command of the command line and its own arguments */
  readonly command: readonly string[]
  /** sentences for the log: unknown options, former names, options on their way out */
  readonly warnings: readonly string[]
  /**
   * Finds a file that an option names by a relative path: in the folders of `--config-dir`, beside the configuration files (the
   * last first), then where configuration is looked for.
   */
  readonly findFile: (name: string) => string | undefined
  /** every option with its value and where it comes from */
  effective(): readonly EffectiveOption[]
  /**
   * Reads files and environment again and takes over what is mutable.
   *
   * @returns sentences on what changed and what cannot change while the process runs
   * @throws ConfigError when the new configuration cannot be used; everything stays as it was
   */
  reload(): { readonly changed: readonly string[]; readonly ignored: readonly string[] }
}

/**
 * Reads a configuration and checks every value of it at once.
 *
 * @throws ConfigError naming file, line, option, value and what is allowed, for all wrong values; CommandLineExit
 */
export function loadConfig<const G extends Record<string, OptionGroup>>(
  groups: G,
  input: LoadConfigInput,
): LoadedConfig<G> {
  const store = new OptionStore()
  for (const group of Object.values(groups)) {
    for (const option of registeredOptions(group)) {
      const host = input.hostDefaults?.[`${group.name}/${option.dest}`]
      store.define(host === undefined ? option : { ...option, default: host })
    }
  }
  const command = store.load({ ...input, checkRequired: false })
  const values: Record<string, Record<string, unknown>> = {}
  for (const { option, value } of readAll(store)) (values[option.group ?? 'DEFAULT'] ??= {})[option.dest] = value

  return {
    config: values as ConfigOf<G>,
    command,
    warnings: [...unknownSettings(store, values, input.env), ...formerNames(store), ...goingAway(store)],
    findFile: (name) => findIn(foldersOf(store.source, input), name),
    effective: () => readAll(store),
    reload: () => takeOver(store, values),
  }
}

const foldersOf = (source: Namespace, { env, project }: LoadConfigInput): string[] => [
  ...source.configDirs.map((dir) => expandHome(dir, env)),
  ...source.files.map((file) => dirname(file.path)).toReversed(),
  ...searchFolders(project, env),
]

/** Every value, or one error with all that is wrong. */
function readAll(store: OptionStore): EffectiveOption[] {
  const wrong: ConfigError[] = []
  const all: EffectiveOption[] = []
  for (const option of store.options()) {
    try {
      all.push({ option, ...store.read(option.dest, option.group) })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      wrong.push(error)
    }
  }
  if (wrong.length > 0) {
    throw new ConfigError(wrong[0]!.kind, [...new Set(wrong.map((error) => error.message))].join('\n'), {
      cause: wrong[0],
    })
  }
  return all
}

function takeOver(store: OptionStore, values: Record<string, Record<string, unknown>>) {
  const keep = store.source
  store.reload()
  let fresh: EffectiveOption[]
  try {
    fresh = readAll(store)
  } catch (error) {
    store.restore(keep)
    throw error
  }
  const changed: string[] = []
  const ignored: string[] = []
  for (const { option, value } of fresh) {
    const group = values[option.group ?? 'DEFAULT']!
    const before = group[option.dest]
    if (isDeepStrictEqual(before, value)) continue
    const shown = (it: unknown) => (option.secret ? '****' : JSON.stringify(it))
    if (option.mutable) {
      group[option.dest] = value
      changed.push(`option ${titled(option)} changed from ${shown(before)} to ${shown(value)}`)
    } else {
      ignored.push(`option ${titled(option)} cannot change while the service runs: restart it to use ${shown(value)}`)
    }
  }
  return { changed, ignored }
}

/** One sentence for each setting that no option has as its name, with what was probably meant. */
function unknownSettings(
  store: OptionStore,
  values: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  env: NodeJS.ProcessEnv,
): string[] {
  const options = store.options()
  const known = new Map<string, Set<string>>()
  for (const option of options) {
    for (const { group, name } of namesOf(option)) {
      const key = normalizedGroup(group ?? 'DEFAULT')
      known.set(key, (known.get(key) ?? new Set()).add(name))
    }
  }
  // Plugin options may live in a section of their own, which `auth_section` names.
  const lent = new Set(
    Object.values(values).flatMap(({ auth_section }) => (typeof auth_section === 'string' ? [auth_section] : [])),
  )
  const sentences = new Map<string, string>()
  const groups = [...new Set(options.map((option) => option.group ?? 'DEFAULT'))]

  for (const file of store.source.files) {
    for (const { section, key, line } of file.settings) {
      const names = known.get(normalizedGroup(section))
      if (names?.has(key) === true || lent.has(section)) continue
      const place = `${file.path}:${line}`
      if (names === undefined) {
        const meant = nearest(section, groups)
        const hint = meant === undefined ? '' : `; did you mean [${meant}]?`
        sentences.set(`[${section}]`, `${place}: the section [${section}] is unknown and is ignored${hint}`)
      } else {
        const own = options.filter((option) => normalizedGroup(option.group ?? 'DEFAULT') === normalizedGroup(section))
        sentences.set(
          `[${section}]${key}`,
          `${place}: the option [${section}]${key} is unknown and is ignored${meantBy(key, own, options)}`,
        )
      }
    }
  }
  for (const variable of Object.keys(env)) {
    const match = /^OS_([A-Z0-9_]+?)__([^=]+)$/.exec(variable)
    const group = match === null ? undefined : groups.find((name) => name.toUpperCase() === match[1])
    if (match === null || group === undefined) continue
    const own = options.filter((option) => (option.group ?? 'DEFAULT') === group)
    if (own.some((option) => option.dest.toUpperCase() === match[2])) continue
    const hint = meantBy(match[2]!, own, [])
    sentences.set(variable, `the environment variable ${variable} names no option of [${group}] and is ignored${hint}`)
  }
  return [...sentences.values()]
}

function meantBy(key: string, own: readonly RegisteredOption[], all: readonly RegisteredOption[]): string {
  const near = nearest(
    key,
    own.map((option) => option.dest),
  )
  if (near !== undefined) return `; did you mean ${near}?`
  const elsewhere = all.filter((option) => option.dest === key)
  return elsewhere.length === 0 ? '' : `; did you mean it for ${elsewhere.map(titled).join(' or ')}?`
}

function formerNames(store: OptionStore): string[] {
  return [...store.source.formerNamesUsed].map(
    ([former, { option, origin }]) =>
      `${originText(origin)}: option ${former} is the former name of ${titled(option)}: use that`,
  )
}

function goingAway(store: OptionStore): string[] {
  return store
    .options()
    .filter((option) => option.deprecatedForRemoval && store.source.find(option) !== undefined)
    .map((option) => `option ${titled(option)} is set and will go away in a later release`)
}
