import type { ArgumentRule } from './command-line.ts'
import { ConfigError } from './errors.ts'
import { commandLine, type Namespace } from './namespace.ts'
import type { RegisteredOption } from './registered.ts'

/** `--name`, `--group-name`, and for flags `--noname`, `--group-noname`; former names likewise. */
export function argumentRules(option: RegisteredOption, namespace: Namespace): ArgumentRule[] {
  const { cli } = option
  if (cli === null) return []
  const spellings = (negation: string) => [
    `--${option.group === null ? '' : `${option.group}-`}${negation}${option.name}`,
    ...(negation === '' && cli.short !== undefined ? [`-${cli.short}`] : []),
    ...option.deprecated.flatMap((former) => {
      if (former.name === undefined && (former.group === undefined || former.group === 'DEFAULT')) return []
      const group = former.group === undefined || former.group === 'DEFAULT' ? '' : `${former.group}-`
      return `--${group}${negation}${former.name ?? option.name}`
    }),
  ]
  const { metavar } = cli
  if (cli.flag) {
    return [
      {
        spellings: spellings(''),
        takesValue: false,
        help: option.help,
        apply: () => namespace.setArgument(option, true, commandLine),
      },
      {
        spellings: spellings('no'),
        takesValue: false,
        help: `the opposite of --${option.name}`,
        apply: () => namespace.setArgument(option, false, commandLine),
      },
    ]
  }
  return [
    {
      spellings: spellings(''),
      takesValue: true,
      metavar,
      help: option.help,
      apply: (value) => {
        if (option.multi) namespace.appendArguments(option, [value], commandLine)
        else namespace.setArgument(option, value, commandLine)
      },
    },
  ]
}

/** @throws ConfigError DuplicateOptError */
export function refuseSameSpelling(rules: readonly ArgumentRule[]): void {
  const seen = new Set<string>()
  for (const spelling of rules.flatMap((rule) => [...new Set(rule.spellings)])) {
    if (seen.has(spelling))
      throw new ConfigError('DuplicateOptError', `two options want to be ${spelling} on the command line`)
    seen.add(spelling)
  }
}
