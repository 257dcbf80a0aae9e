import { interfaceTypes, type InterfaceType } from '../domain/interfaces.ts'
import { interfaces as agent } from './agent/index.ts'
import { interfaces as drac } from './drac/index.ts'
import { interfaces as fake } from './fake/index.ts'
import type { DriverInterface } from './interfaces/base.ts'
import { interfaces as noop } from './noop/index.ts'
import { interfaces as redfish } from './redfish/index.ts'
import type { DriverParts } from './task.ts'

/** How an interface is made. */
export type InterfaceClass = new (parts: DriverParts) => DriverInterface
/** Interface classes by type and entry-point name. */
export type InterfaceClasses = Readonly<Record<InterfaceType, Readonly<Record<string, InterfaceClass>>>>
export type Family = Partial<Record<InterfaceType, Readonly<Record<string, InterfaceClass>>>>

/** One entry per folder of drivers. */
export const driverFamilies: readonly Family[] = [noop, fake, agent, redfish, drac]

/** Every interface of the drivers. */
export const interfaceClasses: InterfaceClasses = mergeFamilies(driverFamilies)

export function mergeFamilies(families: readonly Family[]): InterfaceClasses {
  const merged = Object.fromEntries(interfaceTypes.map((type) => [type, {}])) as Record<
    InterfaceType,
    Record<string, InterfaceClass>
  >
  for (const family of families) {
    for (const type of interfaceTypes) Object.assign(merged[type], family[type])
  }
  return merged
}
