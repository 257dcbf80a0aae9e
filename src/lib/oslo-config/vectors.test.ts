import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { CommandLineExit, ConfigError } from './errors.ts'
import { hostAddressType, hostDomainType, hostnameType, ipType, uriType } from './network-types.ts'
import { OptionStore } from './option-store.ts'
import { registered, type RegisteredOption } from './registered.ts'
import * as types from './value-types.ts'

/** Recorded cases of the real library; the README of the recordings calls the fields by these names. */
interface OptionCase {
  type: string
  name: string
  group?: string
  dest?: string
  default?: unknown
  required?: boolean
  short?: string
  cli?: boolean
  deprecated_name?: string
  deprecated_group?: string
  deprecated_opts?: { name?: string; group?: string }[]
  item_type?: TypeCase
  opt_type?: TypeCase
  [rule: string]: unknown
}
interface TypeCase {
  t: string
  [rule: string]: unknown
}
interface Case {
  in: {
    opts: OptionCase[]
    files?: { name: string; text?: string; b64?: string; missing?: boolean }[]
    dirs?: { name: string; missing?: boolean; files?: { name: string; text: string }[] }[]
    args?: string[]
    env?: Record<string, string>
    defaults?: { name: string; group?: string; value: unknown }[]
    overrides?: { name: string; group?: string; value: unknown }[]
    read?: { name: string; group?: string }[]
  }
  out?: Record<string, unknown>
  error?: string
  at?: string
  status?: number
}

const cases = JSON.parse(
  readFileSync(new URL('../../../test/vectors/oslo-config.json', import.meta.url), 'utf8'),
) as Case[]

/** Classes that mean that the original crashed: any refusal will do. */
const crashes = ['AttributeError', 'TypeError', 'KeyError', 'IndexError', 'RecursionError', 'error', 'ArgumentError']

describe('the recorded cases of oslo.config', () => {
  for (const [index, recorded] of cases.entries()) {
    it(`case ${index}: ${JSON.stringify(recorded.in).slice(0, 160)}`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'openkeel-config-'))
      try {
        check(recorded, folder)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})

function check(recorded: Case, folder: string): void {
  const steps: [string, (values: Record<string, unknown>) => void][] = []
  const store = new OptionStore()
  const { in: given } = recorded
  const options: RegisteredOption[] = []
  steps.push(
    ['define', () => options.push(...given.opts.map(optionOf))],
    ['define', () => options.forEach((option) => store.define(option))],
    ['load', () => load(store, recorded, folder)],
    [
      'override',
      () => given.defaults?.forEach(({ name, value, group }) => store.setDefault(name, value, group ?? null)),
    ],
    [
      'override',
      () => given.overrides?.forEach(({ name, value, group }) => store.setOverride(name, value, group ?? null)),
    ],
    [
      'read',
      (values) => {
        const wanted = given.read ?? options.map((option) => ({ name: option.dest, group: option.group ?? undefined }))
        for (const { name, group } of wanted) {
          values[group === undefined ? name : `${group}/${name}`] = plain(store.get(name, group ?? null))
        }
      },
    ],
  )
  const values: Record<string, unknown> = {}
  for (const [stage, step] of steps) {
    try {
      step(values)
    } catch (error) {
      assert.ok(recorded.error !== undefined, `${stage} must not fail: ${String(error)}`)
      assert.equal(stage, recorded.at)
      if (crashes.includes(recorded.error)) return
      assert.equal(error instanceof CommandLineExit ? 'SystemExit' : (error as ConfigError).kind, recorded.error)
      if (error instanceof CommandLineExit) assert.equal(error.status, recorded.status)
      return
    }
  }
  assert.equal(recorded.error, undefined, `must fail, but gives ${JSON.stringify(values)}`)
  assert.deepEqual(values, recorded.out)
}

function load(store: OptionStore, { in: given }: Case, folder: string): void {
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  for (const { name, text, b64, missing } of given.files ?? []) {
    if (missing !== true) write(join(folder, name), b64 === undefined ? (text ?? '') : Buffer.from(b64, 'base64'))
  }
  for (const dir of given.dirs ?? []) {
    if (dir.missing !== true) mkdirSync(join(folder, dir.name), { recursive: true })
    for (const { name, text } of dir.files ?? []) write(join(folder, dir.name, name), text)
  }
  store.load({
    program: 'ironic',
    args: (given.args ?? []).map((arg) => arg.replaceAll('{dir}', folder)),
    env: { HOME: folder, ...given.env },
    defaultFiles: (given.files ?? []).map(({ name }) => join(folder, name)),
    defaultDirs: (given.dirs ?? []).map(({ name }) => join(folder, name)),
  })
}

/** JSON has no infinity and no range; the recordings write them as objects. */
function plain(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { float: Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf' }
  }
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null && 'step' in value && 'stop' in value) {
    const { start, stop, step } = value as types.NumberRange
    return { range: [start, stop, step] }
  }
  return value
}

function optionOf(given: OptionCase): RegisteredOption {
  const kind = given.type
  const former = [...(given.deprecated_opts ?? [])]
  if (given.deprecated_name !== undefined || given.deprecated_group !== undefined) {
    former.push({
      ...(given.deprecated_name === undefined ? {} : { name: given.deprecated_name }),
      ...(given.deprecated_group === undefined ? {} : { group: given.deprecated_group }),
    })
  }
  return registered({
    name: given.name,
    ...(given.dest === undefined ? {} : { dest: given.dest }),
    group: given.group ?? null,
    type:
      given.opt_type !== undefined
        ? typeOf(given.opt_type)
        : kind === 'multi' || kind === 'multistr'
          ? typeOf(given.item_type ?? { t: 'string' })
          : typeOf({ ...given, t: kind }),
    multi: kind === 'multi' || kind === 'multistr',
    default: given.default ?? null,
    required: given.required ?? false,
    deprecated: former,
    cli: given.cli === true ? { short: given.short, flag: kind === 'bool' } : null,
  })
}

function typeOf(given: TypeCase): types.ValueType {
  const rule = (name: string) => given[name] as never
  const numbers = { min: rule('min'), max: rule('max'), choices: rule('choices') }
  const sub = (name: string) => (given[name] === undefined ? {} : { [name.split('_')[0]!]: typeOf(rule(name)) })
  const given_ = (from: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined && value !== null))
  switch (given.t) {
    case 'str':
    case 'string':
    case 'opt':
      return types.stringType(
        given_({
          choices: (rule('choices') as unknown[] | undefined)?.map((choice) =>
            Array.isArray(choice) ? choice[0] : choice,
          ),
          quotes: given['quotes'],
          regex: given['regex'],
          ignoreCase: given['ignore_case'],
          maxLength: given['max_length'],
        }),
      )
    case 'bool':
    case 'boolean':
      return types.booleanType
    case 'int':
    case 'integer':
      return types.integerType(numbers)
    case 'float':
      return types.floatType(numbers)
    case 'port':
      return types.portType(numbers)
    case 'list':
      return types.listType(given_({ ...sub('item_type'), bounds: given['bounds'], minLength: given['min_length'] }))
    case 'dict':
      return types.dictType(
        given_({
          ...sub('value_type'),
          bounds: given['bounds'],
          minLength: given['min_length'],
          separator: given['key_value_separator'],
        }),
      )
    case 'range':
      return types.rangeType(given_({ min: given['min'], max: given['max'], inclusive: given['inclusive'] }))
    case 'ip':
    case 'ipaddress':
      return ipType(rule('version'))
    case 'hostname':
      return hostnameType
    case 'hostaddress':
      return hostAddressType(rule('version'))
    case 'hostdomain':
      return hostDomainType(rule('version'))
    case 'uri':
      return uriType(given_({ maxLength: given['max_length'], schemes: given['schemes'] }))
    default:
      throw new Error(`the recordings hold the type ${given.t}, which this test does not know`)
  }
}
