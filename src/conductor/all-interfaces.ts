import { driverFamilies, type InterfaceClasses, mergeFamilies } from '../drivers/interface-classes.ts'
import { interfaces as inspection } from '../inspection/index.ts'

/** Every interface of this release: those of the drivers, and those that process what an inspection found. */
export const allInterfaces: InterfaceClasses = mergeFamilies([...driverFamilies, inspection])
