import { optionGroups, type Config } from './index.ts'

/** Values by group and option, each as the option's own type. */
export type ConfigOverrides = { [G in keyof Config]?: Partial<Config[G]> }

/** The whole configuration with stock values, except those given; host-dependent values are fixed (`host` is `test-host`). */
export function testConfig(overrides: ConfigOverrides = {}): Config {
  const values: Record<string, Record<string, unknown>> = {}
  for (const [group, { options }] of Object.entries(optionGroups)) {
    values[group] = {}
    for (const [name, option] of Object.entries(options)) values[group][name] = structuredClone(option.default ?? null)
  }
  Object.assign(values['DEFAULT']!, { my_ip: '127.0.0.1', pybasedir: '/usr/share/ironic', host: 'test-host' })
  for (const [group, options] of Object.entries(overrides)) Object.assign(values[group]!, options)
  const expand = (text: string): string =>
    text.replace(/\$([a-z_]\w*)/g, (whole, name: string) => {
      const value = values['DEFAULT']![name]
      return typeof value === 'string' ? expand(value) : whole
    })
  for (const options of Object.values(values)) {
    for (const [name, value] of Object.entries(options)) if (typeof value === 'string') options[name] = expand(value)
  }
  return values as unknown as Config
}
