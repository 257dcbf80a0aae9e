import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allInterfaces } from '../../src/conductor/all-interfaces.ts'
import { testConfig } from '../../src/config/for-tests.ts'
import type { StepPhase } from '../../src/domain/steps.ts'
import type { DriverInterface } from '../../src/drivers/interfaces/base.ts'
import { BootInterface, VendorInterface } from '../../src/drivers/interfaces/driver.ts'
import { SharedParts } from '../../src/drivers/shared-parts.ts'
import type { Task } from '../../src/drivers/task.ts'
import { silentLogger } from '../../src/lib/oslo-log/logger.ts'

interface StepFact {
  readonly step: string
  readonly priority: number
  readonly abortable?: boolean
  readonly requires_ramdisk?: boolean
  readonly args?: Record<string, boolean>
}
interface Fact {
  readonly supported?: boolean
  readonly properties?: Record<string, unknown>
  readonly capabilities?: string[]
  readonly vendor_routes?: Record<
    string,
    { http_methods: string[]; async: boolean; attach: boolean; require_exclusive_lock: boolean }
  >
  readonly [steps: `${string}_steps`]: StepFact[] | undefined
}

const facts = JSON.parse(readFileSync(new URL('../facts/hardware.json', import.meta.url), 'utf8')) as {
  interfaces: Record<string, Record<string, Fact>>
}
const parts = {
  config: testConfig(),
  db: undefined as never,
  log: silentLogger,
  clock: { now: () => new Date(), sleep: () => Promise.resolve() },
  host: 'h',
  shared: new SharedParts(),
}

for (const [type, classes] of Object.entries(allInterfaces)) {
  for (const [name, Class] of Object.entries(classes)) {
    if (!/redfish/.test(name)) continue
    const fact = facts.interfaces[type]?.[name]
    test(`${type} ${name} offers what real Ironic offers`, async () => {
      assert.ok(fact !== undefined, 'real Ironic has no such interface')
      const face: DriverInterface = new Class(parts)
      assert.equal(face.name, name)
      assert.equal(face.supported, fact.supported ?? true)
      for (const phase of ['clean', 'deploy', 'service', 'verify'] as const) {
        assert.deepEqual(await stepsOf(face, phase), expected(fact[`${phase}_steps`] ?? [], phase), `${phase} steps`)
      }
      if (fact.properties !== undefined)
        assert.deepEqual(Object.keys(face.properties()).toSorted(), Object.keys(fact.properties).toSorted())
      if (face instanceof BootInterface)
        assert.deepEqual([...face.capabilities].toSorted(), fact.capabilities?.toSorted())
      if (face instanceof VendorInterface) assert.deepEqual(routesOf(face), fact.vendor_routes)
    })
  }
}

async function stepsOf(face: DriverInterface, phase: StepPhase) {
  const steps = await face.getSteps(phase, {} as Task)
  return steps
    .map(({ step, priority, abortable, requires_ramdisk, argsinfo }) => {
      const args = Object.fromEntries(
        Object.entries(argsinfo ?? {}).map(([arg, told]) => [arg, told.required ?? false]),
      )
      return {
        step,
        priority,
        ...(phase === 'clean' || phase === 'service' ? { abortable, requires_ramdisk } : {}),
        args,
      }
    })
    .toSorted((a, b) => (a.step < b.step ? -1 : 1))
}

const expected = (steps: readonly StepFact[], phase: StepPhase) =>
  steps
    .map(({ step, priority, abortable, requires_ramdisk, args }) => ({
      step,
      priority,
      ...(phase === 'clean' || phase === 'service' ? { abortable, requires_ramdisk } : {}),
      args: args ?? {},
    }))
    .toSorted((a, b) => (a.step < b.step ? -1 : 1))

const routesOf = (face: VendorInterface) =>
  Object.fromEntries(
    Object.entries(face.methods()).map(([name, method]) => [
      name,
      {
        http_methods: [...method.httpMethods],
        async: method.async,
        attach: method.attach ?? false,
        require_exclusive_lock: method.requireExclusiveLock ?? true,
      },
    ]),
  )
