import type { ParsedFile, Setting } from './ini.ts'
import type { RegisteredOption } from './registered.ts'

/** Where a value comes from. */
export type Origin =
  | { readonly from: 'file'; readonly path: string; readonly line: number }
  | { readonly from: 'command line' }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'default' }

export const commandLine: Origin = { from: 'command line' }

/** `/etc/ironic/ironic.conf:12`, or the other places in words. */
export function originText(origin: Origin): string {
  switch (origin.from) {
    case 'file':
      return `${origin.path}:${origin.line}`
    case 'environment':
      return `the environment variable ${origin.variable}`
    case 'command line':
      return 'the command line'
    case 'default':
      return 'the stock value'
  }
}

export interface Found {
  /** one text, or all of them for an option that may stand many times */
  readonly value: unknown
  /** decides what wins: a file's setting hides that the command line has one too, as in oslo.config */
  readonly precedence: Origin['from']
  /** the place of the value itself */
  readonly origin: Origin
}

/** Group names do not tell upper from lower case, except DEFAULT. */
export const normalizedGroup = (name: string) => (name === 'DEFAULT' ? name : name.toLowerCase())

interface IndexedFile {
  readonly path: string
  readonly sections: Map<string, Map<string, Setting[]>>
}

function indexed(file: ParsedFile): IndexedFile {
  const sections = new Map<string, Map<string, Setting[]>>()
  for (const setting of file.settings) {
    const section = normalizedGroup(setting.section)
    const keys = sections.get(section) ?? new Map<string, Setting[]>()
    sections.set(section, keys)
    keys.set(setting.key, [...(keys.get(setting.key) ?? []), setting])
  }
  return { path: file.path, sections }
}

/** What files and command line gave, in the order in which they were read. */
export class Namespace {
  readonly filesNotFound: string[] = []
  readonly filesNotAllowed: string[] = []
  readonly configDirs: string[] = []
  /** in reading order */
  readonly files: ParsedFile[] = []
  /** newest first */
  private readonly indexes: IndexedFile[] = []
  private readonly arguments = new Map<string, { value: unknown; origin: Origin }>()
  /** former names that a file used: `[group]name` to the option of today */
  readonly formerNamesUsed = new Map<string, { option: RegisteredOption; origin: Origin }>()

  /** Command-line options found in a file count as if they had been given at this place of the command line. */
  addFile(file: ParsedFile, commandLineOptions: readonly RegisteredOption[]): void {
    this.files.push(file)
    const index = indexed(file)
    this.indexes.unshift(index)
    for (const option of commandLineOptions) {
      const found = this.inFiles(option, [index])
      if (found === undefined) continue
      if (option.multi) this.appendArguments(option, found.value as unknown[], found.origin)
      else this.setArgument(option, found.value, found.origin)
    }
  }

  setArgument(option: RegisteredOption, value: unknown, origin: Origin): void {
    this.arguments.set(argumentKey(option.group, option.dest), { value, origin })
  }

  appendArguments(option: RegisteredOption, values: readonly unknown[], origin: Origin): void {
    const key = argumentKey(option.group, option.dest)
    const before = (this.arguments.get(key)?.value ?? []) as unknown[]
    this.arguments.set(key, { value: [...before, ...values], origin })
  }

  find(option: RegisteredOption): Found | undefined {
    const inFile = this.inFiles(option, this.indexes)
    for (const { group, name } of namesOf(option)) {
      const given = this.arguments.get(argumentKey(group, name))
      if (given !== undefined && given.value !== null) {
        return { value: given.value, precedence: inFile === undefined ? 'command line' : 'file', origin: given.origin }
      }
    }
    return inFile
  }

  private inFiles(option: RegisteredOption, indexes: readonly IndexedFile[]): Found | undefined {
    const all: string[] = []
    let last: { setting: Setting; path: string } | undefined
    for (const { path, sections } of indexes) {
      for (const [position, { group, name }] of namesOf(option).entries()) {
        const settings = sections.get(normalizedGroup(group ?? 'DEFAULT'))?.get(name)
        if (settings === undefined) continue
        const setting = settings.at(-1)!
        const origin: Origin = { from: 'file', path, line: setting.line }
        if (position > 0) this.formerNamesUsed.set(`[${group ?? 'DEFAULT'}]${name}`, { option, origin })
        if (!option.multi) return { value: setting.value, precedence: 'file', origin }
        last ??= { setting, path }
        all.unshift(...settings.map((entry) => entry.value))
      }
    }
    if (last === undefined) return undefined
    return { value: all, precedence: 'file', origin: { from: 'file', path: last.path, line: last.setting.line } }
  }
}

const argumentKey = (group: string | null, name: string) => (group === null ? name : `${group}_${name}`)

/** The option's own name first, then its former ones. */
export function namesOf(option: RegisteredOption): { group: string | null; name: string }[] {
  return [
    { group: option.group, name: option.dest },
    ...option.deprecated
      .filter((former) => former.name !== undefined || former.group !== undefined)
      .map((former) => ({ group: former.group ?? option.group, name: former.name ?? option.dest })),
  ]
}
