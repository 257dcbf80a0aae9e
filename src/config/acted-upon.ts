import { namesOf, originText } from '../lib/oslo-config/namespace.ts'
import type { EffectiveOption } from '../lib/oslo-config/load.ts'
import { titled } from '../lib/oslo-config/registered.ts'
import { optionsActedUpon } from './acted-upon-table.ts'

/** Whether anything in this release looks at the option. */
export const isActedUpon = (group: string, name: string): boolean => optionsActedUpon[group]?.includes(name) === true

/** The options that somebody set and that nothing here looks at, not even under the name that they have today. */
export function ignoredOptions(effective: readonly EffectiveOption[]): ReadonlySet<EffectiveOption> {
  const acted = effective.filter(({ option }) => isActedUpon(option.group ?? 'DEFAULT', option.dest))
  const names = new Set(
    acted.flatMap(({ option }) =>
      namesOf(option).map(({ group, name }) => titled({ group: plain(group), dest: name })),
    ),
  )
  return new Set(effective.filter(({ option, origin }) => origin.from !== 'default' && !names.has(titled(option))))
}

const plain = (group: string | null) => (group === 'DEFAULT' ? null : group)

/** One sentence for each option that is set and does nothing, so that no setting is ignored in silence. */
export const settingsNotActedUpon = (effective: readonly EffectiveOption[]): string[] =>
  [...ignoredOptions(effective)].map(
    ({ option, origin }) =>
      `option ${titled(option)} is set (${originText(origin)}), but this release does not act on it`,
  )
