/**
 * Finds the options that the code reads, by looking at how it reads them: `config.redfish.auth_type`, `const { auth_type } =
 * config.redfish`, `const conf = config.redfish` and then `conf.auth_type`, `Pick<Config['redfish'], 'auth_type'>`, and the same for
 * a parameter that is a whole group.
 */
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { optionGroups } from '../../src/config/index.ts'

const source = join(import.meta.dirname, '../../src')
/** Not readers: the tables themselves, the library that fills them, tests, and machines that are simulated. */
const outside = /^(?:config\/|lib\/oslo-config\/|lab\/)|\.test\.ts$|for-tests\.ts$/

/** What `lib/keystone-auth/login.ts` looks at in the group that it is given. */
const loginOption =
  /^(?:auth_(?:type|url)|user|project_|tenant_|domain_|default_domain_|application_credential_|password$|system_scope|trust_id)/

/** Options read by a name that is put together at run time, or as a whole group through an interface. The file must say so. */
const readElsewhere: readonly { group: string; option: RegExp; file: string; evidence: string }[] = [
  { group: 'DEFAULT', option: /^enabled_\w+_interfaces$/, file: 'drivers/factory.ts', evidence: '`enabled_' },
  { group: 'DEFAULT', option: /^default_\w+_interface$/, file: 'drivers/factory.ts', evidence: '`default_' },
  {
    group: 'conductor',
    option: /^poweroff_in_(?:clean|service)fail$/,
    file: 'conductor/flows/fail.ts',
    evidence: 'config.conductor[flow.powerOffOption]',
  },
  // a Keystone login is the whole group, read by `lib/keystone-auth/login.ts`
  {
    group: 'keystone_authtoken',
    option: loginOption,
    file: 'api/auth/keystone.ts',
    evidence: 'return config.keystone_authtoken',
  },
  {
    group: 'json_rpc',
    option: loginOption,
    file: 'cmd/messaging/json-rpc-options.ts',
    evidence: 'login: config.json_rpc',
  },
]

export type OptionsRead = Record<string, string[]>

/** Options by group, sorted. */
export async function optionsRead(): Promise<OptionsRead> {
  const read = new Map<string, Set<string>>()
  const note = (group: string, option: string) => {
    if (Object.hasOwn(groupOf(group), option)) read.set(group, (read.get(group) ?? new Set()).add(option))
  }
  for (const file of await Array.fromAsync(glob('**/*.ts', { cwd: source }))) {
    if (outside.test(file)) continue
    const text = withoutComments(readFileSync(join(source, file), 'utf8'))
    for (const group of Object.keys(optionGroups)) {
      if (text.includes(group)) for (const option of optionsOfGroupIn(text, group)) note(group, option)
    }
    for (const { group, option, file: reader, evidence } of readElsewhere) {
      if (file !== reader || !text.includes(evidence)) continue
      for (const name of Object.keys(groupOf(group))) if (option.test(name)) note(group, name)
    }
  }
  // createLogger takes the whole group DEFAULT as its settings.
  const settings = readFileSync(join(source, 'lib/oslo-log/create-logger.ts'), 'utf8')
  const logSettings = /interface LogSettings \{([^}]*)\}/.exec(settings)?.[1] ?? ''
  for (const [, name = ''] of logSettings.matchAll(/readonly (\w+):/g)) note('DEFAULT', name)
  noteReferences(read, note)
  return Object.fromEntries(
    [...read].toSorted(([a], [b]) => a.localeCompare(b)).map(([group, names]) => [group, [...names].sort()]),
  )
}

/** `$name` in the stock value of an option that is read counts as reading it. */
function noteReferences(read: Map<string, Set<string>>, note: (group: string, option: string) => void): void {
  for (const [group, names] of read) {
    for (const name of names) {
      const stock = (groupOf(group) as Record<string, { default?: unknown }>)[name]!.default
      if (typeof stock !== 'string') continue
      for (const [, referred = ''] of stock.matchAll(/\$\{?(\w+)/g)) {
        note(Object.hasOwn(groupOf(group), referred) ? group : 'DEFAULT', referred)
      }
    }
  }
}

const groupOf = (group: string) => (optionGroups as Record<string, { options: object }>)[group]!.options

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

function* optionsOfGroupIn(text: string, group: string): Generator<string> {
  const access = `(?:\\.${group}|\\[['"]${group}['"]\\])`
  const direct = new RegExp(`${access}\\s*(?:\\?\\.|\\.)\\s*(\\w+)`, 'g')
  for (const [, name = ''] of text.matchAll(direct)) yield name
  const bracket = new RegExp(`${access}\\[['"](\\w+)['"]\\]`, 'g')
  for (const [, name = ''] of text.matchAll(bracket)) yield name
  // const { a, b: c } = config.group
  const destructured = new RegExp(`\\{([^{}]*)\\}\\s*(?::[^={}\\n]*)?=\\s*[\\w.#!]*${access}(?![\\w.\\[])`, 'g')
  for (const [, names = ''] of text.matchAll(destructured)) yield* membersOf(names)
  // const { group: { a, b } } = config, also in parameters
  const nested = new RegExp(`\\b${group}:\\s*\\{([^{}]*)\\}`, 'g')
  for (const [, names = ''] of text.matchAll(nested)) yield* membersOf(names)
  // Pick<Config['group'], 'a' | 'b'>
  const picked = new RegExp(`Pick<Config\\[['"]${group}['"]\\],([^>]*)>`, 'g')
  for (const [, names = ''] of text.matchAll(picked))
    for (const [, name = ''] of names.matchAll(/['"](\w+)['"]/g)) yield name
  yield* composedNames(text, access, group)
  for (const alias of aliasesOf(text, group, access)) {
    yield* composedNames(text, `(?<![\\w.])${alias}`, group)
    const throughAlias = new RegExp(`(?<![\\w.])${alias}\\s*(?:\\?\\.|\\.)\\s*(\\w+)`, 'g')
    for (const [, name = ''] of text.matchAll(throughAlias)) yield name
    const destructuredAlias = new RegExp(`\\{([^{}]*)\\}\\s*=\\s*${alias}\\b(?![.\\[])`, 'g')
    for (const [, names = ''] of text.matchAll(destructuredAlias)) yield* membersOf(names)
  }
}

/**
 * Names that are put together or handed over: `config.api[`disallow_${phase}_steps`]` reads all that fit, and where `config.group[name]`
 * stands, every quoted name of the group in that file counts.
 */
function* composedNames(text: string, access: string, group: string): Generator<string> {
  const known = Object.keys(groupOf(group))
  for (const [, template = ''] of text.matchAll(new RegExp(`${access}\\[\`([^\`]+)\`\\]`, 'g'))) {
    const fits = new RegExp(`^${template.replace(/\$\{[^}]*\}/g, '\\w+')}$`)
    yield* known.filter((name) => fits.test(name))
  }
  if (!new RegExp(`${access}\\[[\\w.]+\\]`).test(text)) return
  const quoted = new Set([...text.matchAll(/['"](\w+)['"]/g)].map((match) => match[1]!))
  yield* known.filter((name) => quoted.has(name))
}

function* membersOf(names: string): Generator<string> {
  for (const part of names.split(',')) {
    const name = /^\s*(\w+)/.exec(part)?.[1]
    if (name !== undefined) yield name
  }
}

/** Variables and parameters that hold the whole group. */
function aliasesOf(text: string, group: string, access: string): Set<string> {
  const aliases = new Set<string>()
  const assigned = new RegExp(`(?:const|let)\\s+(\\w+)\\s*(?::[^={}\\n]*)?=\\s*[\\w.#!]*${access}\\s*(?:$|[;,)])`, 'gm')
  for (const [, name = ''] of text.matchAll(assigned)) aliases.add(name)
  const typed = new RegExp(`(\\w+)\\??:\\s*Config\\[['"]${group}['"]\\]`, 'g')
  for (const [, name = ''] of text.matchAll(typed)) aliases.add(name)
  for (const [, type = ''] of text.matchAll(new RegExp(`type (\\w+) = Config\\[['"]${group}['"]\\]`, 'g'))) {
    for (const [, name = ''] of text.matchAll(new RegExp(`(\\w+)\\??: ${type}\\b`, 'g'))) aliases.add(name)
  }
  // ({ group }: Config), ({ group: options }: Config)
  const parameter = new RegExp(`\\{[^{}]*\\b${group}\\b(?:\\s*:\\s*(\\w+))?[^{}]*\\}\\s*:\\s*Config\\b(?!\\[)`, 'g')
  for (const [, name] of text.matchAll(parameter)) aliases.add(name ?? group)
  // timeout: ({ group }) => group.option, in a file that knows the type
  const arrow = new RegExp(`\\(\\{\\s*${group}\\s*\\}\\)\\s*=>`)
  if (/\bConfig\b/.test(text) && arrow.test(text)) aliases.add(group)
  // const { group } = config, { config: { group } }
  const whole = new RegExp(
    `\\{[^{}]*\\b${group}\\b(?:\\s*:\\s*(\\w+))?[^{}]*\\}\\s*(?::[^={}\\n]*)?=\\s*[\\w.#!]*config\\b(?![.\\[])`,
    'g',
  )
  for (const [, name] of text.matchAll(whole)) aliases.add(name ?? group)
  return aliases
}
