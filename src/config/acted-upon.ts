import { originText } from '../lib/oslo-config/namespace.ts'
import type { EffectiveOption } from '../lib/oslo-config/load.ts'
import { titled } from '../lib/oslo-config/registered.ts'
import { optionsActedUpon } from './acted-upon-table.ts'

/** Whether anything in this release looks at the option. */
export const isActedUpon = (group: string, name: string): boolean => optionsActedUpon[group]?.includes(name) === true

/** An option that somebody set and that nothing here looks at. */
export const isIgnored = ({ option, origin }: EffectiveOption): boolean =>
  origin.from !== 'default' && !isActedUpon(option.group ?? 'DEFAULT', option.dest)

/** One sentence for each option that is set and does nothing, so that no setting is ignored in silence. */
export const settingsNotActedUpon = (effective: readonly EffectiveOption[]): string[] =>
  effective
    .filter(isIgnored)
    .map(
      ({ option, origin }) =>
        `option ${titled(option)} is set (${originText(origin)}), but this release does not act on it`,
    )
