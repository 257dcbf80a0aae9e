import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { interfaceTypes } from '../domain/interfaces.ts'
import { UnsupportedDriverExtension } from '../errors/driver.ts'
import { hardwareTypes } from './hardware-types.ts'
import { interfaceClasses } from './interface-classes.ts'
import type { BootInterface, NetworkInterface, PowerInterface, VendorInterface } from './interfaces/driver.ts'
import type { DriverParts, Task } from './task.ts'
import { unwrittenInterface } from './unwritten.ts'

const make = (type: Parameters<typeof unwrittenInterface>[0], name: string): unknown => {
  const Interface = unwrittenInterface(type, name)
  assert.ok(Interface)
  return new Interface({} as DriverParts)
}
const task = {} as Task
const refused = (work: Promise<unknown>) => assert.rejects(work, UnsupportedDriverExtension)

describe('interfaces that this release lacks', () => {
  it('are all that Ironic has and we have not written, and no other', () => {
    // those of agent and out-of-band inspection are handed in where drivers and inspection meet
    const handedIn = new Set(['agent', 'redfish', 'idrac-redfish'])
    for (const type of interfaceTypes)
      for (const name of new Set(Object.values(hardwareTypes).flatMap((offers): readonly string[] => offers[type]))) {
        if (type === 'inspect' && handedIn.has(name)) continue
        const written = Object.hasOwn(interfaceClasses[type], name)
        assert.notEqual(written, unwrittenInterface(type, name) !== undefined, `${type} ${name}`)
      }
    assert.equal(unwrittenInterface('power', 'nonsense'), undefined)
  })
  it('refuse what would touch hardware, and validation says so', async () => {
    const power = make('power', 'ipmitool') as PowerInterface
    assert.equal(power.name, 'ipmitool')
    assert.ok('ipmi_address' in power.properties())
    await refused(power.validate(task))
    await refused(power.setPowerState(task, 'power on'))
    assert.equal(power.supportsPowerSync(task), false)
    await refused((make('boot', 'ipxe') as BootInterface).prepareRamdisk(task, {}))
    await refused((make('network', 'neutron') as NetworkInterface).addCleaningNetwork(task))
  })
  it('have nothing to clean up', async () => {
    await (make('boot', 'pxe') as BootInterface).cleanUpInstance(task)
    await (make('network', 'flat') as NetworkInterface).removeCleaningNetwork(task)
    assert.deepEqual((make('vendor', 'ipmitool') as VendorInterface).methods(), {})
  })
})
