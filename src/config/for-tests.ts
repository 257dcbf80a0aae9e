import { registeredOptions } from '../lib/oslo-config/from-table.ts'
import { OptionStore } from '../lib/oslo-config/option-store.ts'
import { type Config, optionGroups } from './index.ts'

/** Values by group and option, each as the option's own type. */
export type ConfigOverrides = { [G in keyof Config]?: Partial<Config[G]> }

const fixed: Readonly<Record<string, string>> = {
  my_ip: '127.0.0.1',
  pybasedir: '/usr/share/ironic',
  host: 'test-host',
}

/** The whole configuration with stock values, except those given; host-dependent values are fixed (`host` is `test-host`). */
export function testConfig(overrides: ConfigOverrides = {}): Config {
  const store = new OptionStore()
  for (const group of Object.values(optionGroups)) for (const option of registeredOptions(group)) store.define(option)
  for (const [name, value] of Object.entries(fixed)) store.setDefault(name, value)
  for (const [group, options] of Object.entries(overrides)) {
    for (const [name, value] of Object.entries(options))
      store.setOverride(name, value, group === 'DEFAULT' ? null : group)
  }
  const values: Record<string, Record<string, unknown>> = {}
  for (const { dest, group } of store.options()) (values[group ?? 'DEFAULT'] ??= {})[dest] = store.get(dest, group)
  return values as unknown as Config
}
