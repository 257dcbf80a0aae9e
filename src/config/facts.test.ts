import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { Option } from '../lib/oslo-config/options.ts'
import { optionGroups } from './index.ts'

interface Fact {
  name: string
  type: string
  multi?: boolean
  default: unknown
  min?: number
  max?: number
  choices?: unknown[]
  items?: { type: string; choices?: string[] }
  values?: { type: string; quotes?: boolean }
  schemes?: string[]
  ignore_case?: boolean
  deprecated_names?: string[]
  secret?: boolean
  mutable: boolean
  required?: boolean
  advanced?: boolean
  deprecated_for_removal?: boolean
}
type Facts = Record<string, Fact[]>

const facts = JSON.parse(readFileSync(new URL('../../test/facts/config.json', import.meta.url), 'utf8')) as {
  ironic_options: Facts
  library_options: Record<string, Facts>
  defaults_ironic_sets_for_libraries: Record<string, Record<string, unknown>>
}

/** Options that the measured list lacks: ours, and what real Ironic and its libraries register only while they run. */
const beyond: Record<string, readonly string[]> = {
  openkeel: Object.keys(optionGroups.openkeel.options),
  fake: Object.keys(optionGroups.fake.options),
  dnsmasq: Object.keys(optionGroups.dnsmasq.options),
  api: ['response_validation'],
  DEFAULT: ['config_source'],
}
const pluginOptions = [
  'application_credential_id',
  'application_credential_name',
  'application_credential_secret',
  'endpoint',
]
const adapterOptions = ['auth_section', 'interface', ...pluginOptions]
const password = facts.ironic_options['neutron']!.map((fact) => fact.name.replaceAll('-', '_'))

const hostDefaults: Record<string, unknown> = {
  'oci/secure_cdn_registries': optionGroups.oci.options.secure_cdn_registries.default,
}

/** Every fact, by group and program name; ironic's own defaults for library options applied. */
function expected(): Map<string, Fact> {
  const all = new Map<string, Fact>()
  for (const source of [facts.ironic_options, ...Object.values(facts.library_options)]) {
    for (const [group, options] of Object.entries(source)) {
      for (const fact of options) all.set(`${group}/${fact.name.replaceAll('-', '_')}`, { ...fact })
    }
  }
  for (const [group, defaults] of Object.entries(facts.defaults_ironic_sets_for_libraries)) {
    for (const [name, value] of Object.entries(defaults)) {
      const fact = all.get(`${group}/${name.replaceAll('-', '_')}`)
      if (fact !== undefined) fact.default = value
    }
  }
  return all
}

function kindOf(fact: Fact): string {
  switch (fact.type) {
    case 'String':
    case 'str':
      return fact.choices === undefined ? 'str' : 'choice'
    case 'Dict':
      return fact.multi === true ? 'multidict' : 'dict'
    default:
      return {
        MultiString: 'multistr',
        Boolean: 'bool',
        Integer: 'int',
        Float: 'float',
        List: 'list',
        HostAddress: 'hostaddress',
        Port: 'port',
        Octal: 'octal',
        IPAddress: 'ip',
        URI: 'uri',
        KernelParameterString: 'kernel-parameters',
      }[fact.type]!
  }
}

const itemKinds: Record<string, string | undefined> = {
  String: undefined,
  Integer: 'int',
  PortRange: 'port-range',
  ExplicitAbsolutePath: 'absolute-path',
}

/** What of an option can be compared, in one shape for both sides. */
function comparable(key: string, option: Option<unknown>) {
  const fixed = option.choices !== undefined && option.kind === 'str' ? 'choice' : option.kind
  return {
    key,
    kind: fixed,
    name: option.name ?? key.slice(key.indexOf('/') + 1),
    default: option.default ?? null,
    min: option.kind === 'port' ? undefined : option.min,
    max: option.kind === 'port' ? undefined : option.max,
    choices: option.choices?.toSorted(),
    items: option.items,
    itemChoices: option.itemChoices,
    quotes: option.quotes ?? false,
    schemes: option.schemes,
    ignoreCase: option.ignoreCase ?? false,
    deprecated: option.deprecated ?? [],
    secret: option.secret ?? false,
    mutable: option.mutable ?? false,
    required: option.required ?? false,
    advanced: option.advanced ?? false,
    deprecatedForRemoval: option.deprecatedForRemoval ?? false,
  }
}

function comparableFact(key: string, fact: Fact) {
  return comparable(key, {
    kind: kindOf(fact) as Option<unknown>['kind'],
    name: fact.name,
    default: hostDefaults[key] ?? fact.default,
    ...(fact.min === undefined ? {} : { min: fact.min }),
    ...(fact.max === undefined ? {} : { max: fact.max }),
    ...(fact.choices === undefined ? {} : { choices: fact.choices as string[] }),
    ...(fact.items === undefined
      ? {}
      : { items: itemKinds[fact.items.type] as never, itemChoices: fact.items.choices }),
    quotes: fact.values?.quotes ?? false,
    schemes: fact.schemes,
    ignoreCase: fact.ignore_case ?? false,
    deprecated: fact.deprecated_names ?? [],
    secret: fact.secret ?? false,
    mutable: fact.mutable,
    required: fact.required ?? false,
    advanced: fact.advanced ?? false,
    deprecatedForRemoval: fact.deprecated_for_removal ?? false,
  })
}

describe('the option tables', () => {
  const ours = new Map<string, Option<unknown>>(
    Object.entries(optionGroups).flatMap(([group, { options }]) =>
      Object.entries(options).map(([name, option]) => [`${group}/${name}`, option as Option<unknown>] as const),
    ),
  )
  for (const [key, fact] of expected()) {
    it(`know ${key} as measured`, () => {
      const option = ours.get(key)
      assert.ok(option !== undefined, `${key} is missing`)
      assert.deepEqual(comparable(key, option), comparableFact(key, fact))
    })
  }

  it('hold nothing else but what is named here', () => {
    const known = expected()
    const surplus = [...ours.keys()].filter((key) => {
      const [group, name] = key.split('/') as [string, string]
      if (known.has(key) || beyond[group]?.includes(name) === true) return false
      if (group === 'keystone_authtoken') return !password.includes(name) && !pluginOptions.includes(name)
      if (group.endsWith('json_rpc'))
        return !known.has(`neutron/${name}`) && ![...adapterOptions, 'service_type'].includes(name)
      return !(known.has(`${group}/auth_type`) && adapterOptions.includes(name))
    })
    assert.deepEqual(surplus, [])
  })

  it('bear the name of their group', () => {
    for (const [name, group] of Object.entries(optionGroups)) assert.equal(group.name, name)
  })
})
