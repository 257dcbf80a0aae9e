import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { testConfig, type ConfigOverrides } from '../config/for-tests.ts'
import type { Db } from '../db/database.ts'
import { interfaceTypes, type InterfaceType } from '../domain/interfaces.ts'
import type { StepPhase } from '../domain/steps.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import type { Node } from '../objects/index.ts'
import { createDriverFactory } from './factory.ts'
import { fakeHardwareConfig } from './fake/for-tests.ts'
import { hardwareTypes, type HardwareType } from './hardware-types.ts'
import { interfaceClasses } from './interface-classes.ts'
import { SharedParts } from './shared-parts.ts'
import type { DriverParts, Task } from './task.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- recorded JSON
const facts: any = JSON.parse(await readFile(new URL('../../test/facts/hardware.json', import.meta.url), 'utf8'))

const parts = (config = fakeHardwareConfig(), log: Logger = silentLogger): DriverParts => ({
  config,
  log,
  db: {} as Db,
  clock: { now: () => new Date(), sleep: () => Promise.resolve() },
  host: 'test-host',
  shared: new SharedParts(),
})
const enabling = (DEFAULT: ConfigOverrides['DEFAULT'] = {}) =>
  createDriverFactory(parts(fakeHardwareConfig({ DEFAULT })))
const node = (values: Partial<Node> = {}) =>
  ({
    uuid: 'ccf5df2a-a6ef-5b0f-b122-4ae04ba1e0b2',
    driver: 'fake-hardware',
    instance_info: {},
    ...Object.fromEntries(interfaceTypes.map((type) => [`${type}_interface`, null])),
    ...values,
  }) as Node

describe('the table of hardware types', () => {
  test('is real Ironic’s', () => {
    const types = Object.entries<{ interfaces_in_priority_order: Record<string, string[]> }>(facts.hardware_types)
    for (const [type, { interfaces_in_priority_order: offers }] of types) {
      const named = Object.entries(offers).map(([kind, names]) => [kind, names.filter((name) => !name.startsWith('('))])
      assert.deepEqual(hardwareTypes[type as HardwareType], Object.fromEntries(named), type)
    }
    assert.deepEqual(Object.keys(hardwareTypes).sort(), Object.keys(facts.hardware_types).sort())
  })

  test('every interface class bears a name of the table, and says it', () => {
    for (const kind of interfaceTypes) {
      const names = new Set<string>(Object.values(hardwareTypes).flatMap((offers): readonly string[] => offers[kind]))
      for (const [name, Interface] of Object.entries(interfaceClasses[kind])) {
        assert.ok(names.has(name), `${kind} ${name}`)
        const made = new Interface(parts(testConfig()))
        assert.deepEqual([made.type, made.name], [kind, name])
      }
    }
  })
})

describe('fake and noop interfaces', () => {
  const own = interfaceTypes.flatMap((kind) =>
    Object.keys(interfaceClasses[kind])
      .filter((name) => name === 'fake' || name === 'noop' || name.startsWith('no-') || name === 'external')
      .map((name): [InterfaceType, string] => [kind, name]),
  )
  for (const [kind, name] of own) {
    test(`${kind} ${name} offers what the original offers`, async () => {
      const made = new interfaceClasses[kind][name]!(parts())
      const fact = facts.interfaces[kind][name]
      assert.deepEqual(Object.keys(made.properties()).sort(), Object.keys(fact.properties).sort())
      for (const phase of ['clean', 'deploy', 'service', 'verify'] as const satisfies StepPhase[]) {
        const steps = (await made.getSteps(phase, {} as Task)).map(
          ({ step, priority, abortable, requires_ramdisk, argsinfo }) => ({
            step,
            priority,
            ...(abortable === undefined ? {} : { abortable }),
            ...(requires_ramdisk === undefined ? {} : { requires_ramdisk }),
            args: Object.fromEntries(
              Object.entries(argsinfo ?? {}).map(([arg, { required }]) => [arg, required ?? false]),
            ),
          }),
        )
        const byName = (a: { step: string }, b: { step: string }) => a.step.localeCompare(b.step)
        assert.deepEqual(steps.toSorted(byName), (fact[`${phase}_steps`] ?? []).toSorted(byName), phase)
      }
    })
  }

  test('vendor methods', () => {
    const methods = enabling().interfaceOf('fake-hardware', 'vendor', 'fake').methods()
    const shown = Object.entries(methods).map(([name, method]) => [
      name,
      {
        http_methods: method.httpMethods,
        async: method.async,
        attach: method.attach,
        require_exclusive_lock: method.requireExclusiveLock,
      },
    ])
    assert.deepEqual(Object.fromEntries(shown), facts.interfaces.vendor.fake.vendor_routes)
  })
})

describe('what is enabled', () => {
  test('the stock configuration starts; what it enables and is not there is told once', () => {
    const told: string[] = []
    const log: Logger = { ...silentLogger, warning: (line) => void told.push(line) }
    const factory = createDriverFactory(parts(testConfig(), log))
    assert.ok(factory.hardwareTypes.includes('redfish'))
    for (const type of factory.hardwareTypes) for (const kind of interfaceTypes) factory.defaultInterface(type, kind)
    assert.ok(told.length <= 1, told.join('\n'))
  })

  test('an unknown hardware type, an unknown interface and one that is not there stop the start', () => {
    assert.throws(() => enabling({ enabled_hardware_types: ['nope'] }), {
      name: 'DriverNotFoundInEntrypoint',
      message: /\[DEFAULT\]enabled_hardware_types names nope.*redfish/,
    })
    assert.throws(() => enabling({ enabled_hardware_types: [] }), { name: 'NoDriversLoaded' })
    assert.throws(() => enabling({ enabled_power_interfaces: ['nope'] }), {
      name: 'DriverNotFoundInEntrypoint',
      message: /\[DEFAULT\]enabled_power_interfaces names nope.*fake/,
    })
    const { fake: _fake, ...others } = interfaceClasses.power
    assert.throws(() => createDriverFactory(parts(), { ...interfaceClasses, power: others }), {
      name: 'DriverLoadError',
      message: /power interface fake.*enabled_power_interfaces/,
    })
  })

  test('the default is the configured one, or the first that is enabled', () => {
    assert.equal(enabling().defaultInterface('fake-hardware', 'bios'), 'fake')
    assert.equal(enabling({ default_bios_interface: 'no-bios' }).defaultInterface('fake-hardware', 'bios'), 'no-bios')
    assert.throws(() => enabling({ default_bios_interface: 'redfish' }).defaultInterface('fake-hardware', 'bios'), {
      name: 'InterfaceNotFoundInEntrypoint',
    })
    const mixed = enabling({ enabled_hardware_types: ['fake-hardware', 'manual-management'] })
    assert.throws(() => mixed.defaultInterface('manual-management', 'deploy'), { name: 'NoValidDefaultForInterface' })
  })
})

describe('the driver of a node', () => {
  test('interfaces that are not set get their defaults', () => {
    const subject = node()
    const driver = enabling().driverOf(subject)
    assert.equal(subject.power_interface, 'fake')
    assert.equal(subject.network_interface, 'noop')
    for (const kind of interfaceTypes) assert.equal(driver[kind].name, subject[`${kind}_interface`])
  })

  test('what the instance wants goes first', () => {
    const subject = node({ bios_interface: 'fake', instance_info: { bios_interface: 'no-bios' } })
    assert.equal(enabling().driverOf(subject).bios.name, 'no-bios')
    assert.equal(subject.bios_interface, 'fake')
  })

  test('unknown and unfitting ones are refused', () => {
    const factory = enabling({
      enabled_hardware_types: ['fake-hardware', 'manual-management'],
      enabled_deploy_interfaces: ['fake', 'noop'],
      enabled_management_interfaces: ['fake', 'noop'],
    })
    assert.throws(() => factory.driverOf(node({ driver: 'nope' })), { name: 'DriverNotFound' })
    assert.throws(() => factory.driverOf(node({ bios_interface: 'nope' })), { name: 'InterfaceNotFoundInEntrypoint' })
    assert.throws(() => factory.driverOf(node({ driver: 'manual-management', boot_interface: 'fake' })), {
      name: 'IncompatibleInterface',
    })
    // fake hardware takes what it does not offer
    assert.equal(factory.driverOf(node({ management_interface: 'noop' })).management.name, 'noop')
  })
})
