import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorNamed } from '../errors/define.ts'
import { booleanFrom, booleanOr } from './booleans.ts'
import { bootModeOf, requestedBootMode } from './boot-mode.ts'
import { capabilitiesToTable, instanceCapabilities, updateCapabilities, validateCapabilities } from './capabilities.ts'
import { wantedRaidConfig } from './raid-target.ts'

interface Case {
  in: { fn: string; args: [unknown, Record<string, unknown>]; root: boolean; nonroot: boolean }
  out?: unknown
  error?: string
}
const cases = JSON.parse(readFileSync(new URL('../../test/vectors/utils.json', import.meta.url), 'utf8')) as Case[]

const node = (instance_info: Record<string, unknown>, properties: Record<string, unknown> = {}, internal = {}) => ({
  uuid: 'n',
  properties,
  instance_info,
  driver_internal_info: internal,
})

const run: Record<string, (given: Case['in']) => unknown> = {
  capabilities_to_dict: ({ args }) => capabilitiesToTable(args[0]),
  get_updated_capabilities: ({ args }) => updateCapabilities(args[0], args[1]),
  instance_capabilities: ({ args }) => instanceCapabilities(node({ capabilities: args[0] })),
  raid_filter: ({ args, root, nonroot }) =>
    wantedRaidConfig({ uuid: 'n', target_raid_config: args[0] as Record<string, unknown> }, { root, nonRoot: nonroot }),
  bool_strict({ args }) {
    const value = booleanFrom(args[0])
    if (value === undefined) throw new Error('no boolean')
    return value
  },
  bool_loose: ({ args }) => booleanOr(args[0]),
}

test('capabilities, flags and RAID targets are read as Ironic does', () => {
  for (const one of cases) {
    const read = run[one.in.fn]
    if (read === undefined) continue
    const label = JSON.stringify(one)
    if (one.error === undefined) assert.deepEqual(read(one.in), one.out, label)
    else assert.throws(() => read(one.in), errorNamed(one.error) === undefined ? /./ : { name: one.error }, label)
  }
})

test('the boot mode: the instance goes before the node, and what the node declares binds', () => {
  const modes: [ReturnType<typeof node>, string | undefined][] = [
    [node({}), undefined],
    [node({ capabilities: { boot_mode: 'BIOS' } }), 'bios'],
    [node({ deploy_boot_mode: 'bios' }), 'bios'],
    [node({}, { capabilities: 'x:y,boot_mode:uefi' }), 'uefi'],
    [node({}, {}, { deploy_boot_mode: 'uefi' }), 'uefi'],
    [node({ capabilities: '{"secure_boot": "True"}' }, { capabilities: 'boot_mode:bios' }), 'uefi'],
  ]
  for (const [one, mode] of modes) assert.equal(requestedBootMode(one), mode)
  assert.equal(bootModeOf(node({}), 'uefi'), 'uefi')
  const clash = node({ capabilities: { boot_mode: 'bios' } }, { capabilities: 'boot_mode:uefi' })
  assert.throws(() => requestedBootMode(clash), { name: 'InvalidParameterValue' })
})

test('capabilities with a closed list of values have one of them', () => {
  validateCapabilities(node({ capabilities: { boot_mode: 'uefi', other: 'x' } }, { capabilities: 'disk_label:gpt' }))
  for (const bad of [
    node({ capabilities: { secure_boot: 'perhaps' } }),
    node({}, { capabilities: 'disk_label:apple' }),
    node({ capabilities: 'text' }),
  ]) {
    assert.throws(() => validateCapabilities(bad), { name: 'InvalidParameterValue' })
  }
})
