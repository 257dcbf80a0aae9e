import { ignoredOptions } from '../../config/acted-upon.ts'
import type { LoadedIronicConfig } from '../../config/load.ts'
import type { EffectiveOption } from '../../lib/oslo-config/load.ts'
import { originText } from '../../lib/oslo-config/namespace.ts'
import { maskSentence } from '../../lib/oslo-log/secrets.ts'

/**
 * Prints every option with its value, where the value comes from, and whether anything acts on it; secrets are masked. Unknown
 * options and former names follow. The lines are those of a configuration file, so that they can be compared with one.
 */
export function printConfig(loaded: LoadedIronicConfig, { changedOnly }: { changedOnly: boolean }): void {
  const effective = loaded.effective()
  const ignored = ignoredOptions(effective)
  const groups = Map.groupBy(effective, ({ option }) => option.group ?? 'DEFAULT')
  for (const [group, options] of groups) {
    const shown = changedOnly ? options.filter(({ origin }) => origin.from !== 'default') : options
    if (shown.length === 0) continue
    console.log(`[${group}]`)
    for (const each of shown) console.log(line(each, ignored.has(each)))
    console.log()
  }
  for (const { option, origin } of ignored) {
    console.log(
      `# not acted upon by this release: [${option.group ?? 'DEFAULT'}]${option.dest} (${originText(origin)})`,
    )
  }
  for (const sentence of loaded.warnings) console.log(`# ${sentence}`)
}

function line(effective: EffectiveOption, isIgnored: boolean): string {
  const { option, value, origin } = effective
  const from = origin.from === 'default' ? 'stock value' : `from ${originText(origin)}`
  const note = isIgnored ? `${from}; SET BUT NOT ACTED UPON` : from
  return `${option.dest} = ${shownValue(effective, value)}  # ${note}`
}

function shownValue({ option }: EffectiveOption, value: unknown): string {
  if (value === null) return '<None>'
  if (option.secret) return '****'
  const text = typeof value === 'string' ? value : written(value)
  return maskSentence(text).replaceAll('\n', String.raw`\n`)
}

/** Lists and dicts as a file writes them. */
function written(value: unknown): string {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'object' ? written(item) : String(item))).join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  if ('start' in value && 'stop' in value) return `${String(value.start)}:${String(value.stop)}`
  return Object.entries(value)
    .map(([key, item]) => `${key}:${String(item)}`)
    .join(',')
}
