import { CommandLineExit } from './errors.ts'

/** One spelling or several (`--log-file`, `--logfile`) of one thing that the command line can say. */
export interface ArgumentRule {
  readonly spellings: readonly string[]
  readonly takesValue: boolean
  readonly metavar?: string | undefined
  readonly help?: string | undefined
  /** called in the order of the command line; a flag is called with undefined */
  readonly apply: (value: string | undefined) => void
}

export interface CommandLineSpec {
  /** the program's name in usage and faults */
  readonly program: string
  readonly rules: readonly ArgumentRule[]
  /** the first plain word and all after it are handed out; without this, plain words are a fault */
  readonly command?: { readonly name: string; readonly choices: readonly string[] } | undefined
  /** takes plain words, each as it comes */
  readonly words?: { readonly name: string; readonly apply: (word: string) => void } | undefined
  readonly description?: string | undefined
}

type Classified =
  | { readonly kind: 'word' }
  | { readonly kind: 'dashes' }
  | {
      readonly kind: 'option'
      readonly rule: ArgumentRule | undefined
      readonly spelling: string
      readonly explicit: string | undefined
    }

/**
 * Reads a command line by the rules of Python's argparse, which the operators' scripts rely on: unique beginnings of long
 * options, `--name=value`, `-nvalue`, flags run together, `--` before plain words.
 *
 * @returns the command and its own arguments, when the spec has a command
 * @throws CommandLineExit status 0 for `--help`, 2 for what cannot be understood
 */
export function parseCommandLine(spec: CommandLineSpec, args: readonly string[]): readonly string[] {
  const fail = (message: string): never => {
    throw new CommandLineExit(2, `${usage(spec)}\n${spec.program}: error: ${message}\n`)
  }
  const rules = [
    ...spec.rules,
    {
      spellings: ['-h', '--help'],
      takesValue: false,
      help: 'show this help message and exit',
      apply: () => {
        throw new CommandLineExit(0, helpText(spec))
      },
    },
  ]
  const bySpelling = new Map(rules.flatMap((rule) => rule.spellings.map((spelling) => [spelling, rule] as const)))
  const classified = classify(args, bySpelling, fail)
  const unknown: string[] = []

  for (let index = 0; index < args.length;) {
    const entry = classified[index]!
    if (entry.kind !== 'option') {
      const startsCommand = entry.kind === 'word' || classified[index + 1]?.kind === 'word'
      if (spec.command !== undefined && startsCommand) {
        const rest = args.slice(entry.kind === 'dashes' ? index + 1 : index)
        if (!spec.command.choices.includes(rest[0]!)) {
          fail(
            `argument ${spec.command.name}: invalid choice: '${rest[0]}' (choose from ${quotedList(spec.command.choices)})`,
          )
        }
        if (unknown.length > 0) fail(`unrecognized arguments: ${unknown.join(' ')}`)
        return rest
      }
      if (spec.words !== undefined) {
        if (entry.kind === 'word') spec.words.apply(args[index]!)
      } else unknown.push(args[index]!)
      index += 1
    } else if (entry.rule === undefined) {
      unknown.push(args[index]!)
      index += 1
    } else {
      index = applyOption(entry.rule, entry, index)
    }
  }
  if (spec.command !== undefined) fail(`the following arguments are required: ${spec.command.name}`)
  if (unknown.length > 0) fail(`unrecognized arguments: ${unknown.join(' ')}`)
  return []

  function applyOption(rule: ArgumentRule, entry: Classified & { kind: 'option' }, index: number): number {
    if (!rule.takesValue) {
      applyFlags(rule, entry.spelling, entry.explicit)
      return index + 1
    }
    if (entry.explicit !== undefined) {
      rule.apply(entry.explicit)
      return index + 1
    }
    if (classified[index + 1]?.kind !== 'word') fail(`argument ${rule.spellings.join('/')}: expected one argument`)
    rule.apply(args[index + 1])
    return index + 2
  }

  /** `-abc` is `-a -b -c`, and the last may take the rest as its value. */
  function applyFlags(first: ArgumentRule, spelling: string, explicit: string | undefined): void {
    let rule = first
    let rest = explicit
    while (rest !== undefined) {
      const ignored = `argument ${rule.spellings.join('/')}: ignored explicit argument '${rest}'`
      if (spelling.startsWith('--') || rest === '') fail(ignored)
      const next = bySpelling.get(`-${rest[0]}`)
      if (next === undefined) return fail(ignored)
      rule.apply(undefined)
      rest = rest.length > 1 ? rest.slice(1) : undefined
      rule = next
      if (rule.takesValue) {
        if (rest === undefined) fail(`argument ${rule.spellings.join('/')}: expected one argument`)
        rule.apply(rest)
        return
      }
    }
    rule.apply(undefined)
  }
}

function classify(
  args: readonly string[],
  bySpelling: ReadonlyMap<string, ArgumentRule>,
  fail: (message: string) => never,
): Classified[] {
  let plain = false
  return args.map((text): Classified => {
    if (plain) return { kind: 'word' }
    if (text === '--') {
      plain = true
      return { kind: 'dashes' }
    }
    return classifyOne(text, bySpelling, fail)
  })
}

function classifyOne(
  text: string,
  bySpelling: ReadonlyMap<string, ArgumentRule>,
  fail: (message: string) => never,
): Classified {
  if (!text.startsWith('-') || text === '-') return { kind: 'word' }
  const exact = bySpelling.get(text)
  if (exact !== undefined) return { kind: 'option', rule: exact, spelling: text, explicit: undefined }
  const equals = text.indexOf('=')
  if (equals >= 0) {
    const spelling = text.slice(0, equals)
    const rule = bySpelling.get(spelling)
    if (rule !== undefined) return { kind: 'option', rule, spelling, explicit: text.slice(equals + 1) }
  }
  const candidates = beginnings(text, bySpelling)
  if (candidates.length > 1) {
    fail(`ambiguous option: ${text} could match ${candidates.map((candidate) => candidate.spelling).join(', ')}`)
  }
  if (candidates.length === 1) return { kind: 'option', ...candidates[0]! }
  if (/^-\d+$|^-\d*\.\d+$/.test(text) || text.includes(' ')) return { kind: 'word' }
  return { kind: 'option', rule: undefined, spelling: text, explicit: undefined }
}

function beginnings(text: string, bySpelling: ReadonlyMap<string, ArgumentRule>) {
  const found: { rule: ArgumentRule; spelling: string; explicit: string | undefined }[] = []
  if (text.startsWith('--')) {
    const equals = text.indexOf('=')
    const prefix = equals < 0 ? text : text.slice(0, equals)
    const explicit = equals < 0 ? undefined : text.slice(equals + 1)
    for (const [spelling, rule] of bySpelling) if (spelling.startsWith(prefix)) found.push({ rule, spelling, explicit })
    return found
  }
  for (const [spelling, rule] of bySpelling) {
    if (spelling === text.slice(0, 2)) found.push({ rule, spelling, explicit: text.slice(2) })
    else if (spelling.startsWith(text)) found.push({ rule, spelling, explicit: undefined })
  }
  return found
}

const quotedList = (choices: readonly string[]) => choices.map((choice) => `'${choice}'`).join(', ')
const valueName = (rule: ArgumentRule) =>
  rule.metavar ?? rule.spellings[0]!.replace(/^-+/, '').replaceAll('-', '_').toUpperCase()
const withValue = (rule: ArgumentRule, spelling: string) =>
  rule.takesValue ? `${spelling} ${valueName(rule)}` : spelling

function usage(spec: CommandLineSpec): string {
  const options = ['[-h]', ...spec.rules.map((rule) => `[${withValue(rule, rule.spellings[0]!)}]`)]
  const command = spec.command === undefined ? [] : [`{${spec.command.choices.join(',')}} ...`]
  const words = spec.words === undefined ? [] : [`[${spec.words.name} ...]`]
  return `usage: ${spec.program} ${[...options, ...command, ...words].join(' ')}`
}

function helpText(spec: CommandLineSpec): string {
  const lines = spec.rules.map((rule) => {
    const left = `  ${rule.spellings.map((spelling) => withValue(rule, spelling)).join(', ')}`
    return rule.help === undefined ? left : `${left}\n${' '.repeat(24)}${rule.help}`
  })
  const description = spec.description === undefined ? '' : `\n${spec.description}\n`
  return `${usage(spec)}\n${description}\noptions:\n  -h, --help            show this help message and exit\n${lines.join('\n')}\n`
}
