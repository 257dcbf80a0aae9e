import type { Config } from '../../config/index.ts'
import type { DriverFactory } from '../../drivers/factory.ts'
import { driverTasks } from './driver-tasks.ts'
import { historyCleaning } from './node-history.ts'
import { abandonedNodes, orphanAllocations, orphanNodes } from './orphans.ts'
import { powerRecovery, powerSync } from './power-sync.ts'
import type { PeriodicTask } from './scheduler.ts'
import { sensorData } from './sensor-data.ts'
import { staleConductors } from './stale-conductors.ts'
import { takeOvers } from './take-over.ts'
import { waitTimeouts } from './wait-timeouts.ts'

/** All periodic work of a conductor. */
export const periodicTasks = (config: Config, drivers: DriverFactory): PeriodicTask[] => [
  powerSync(config),
  powerRecovery(config),
  ...waitTimeouts(config),
  orphanNodes(config),
  abandonedNodes(config),
  orphanAllocations(config),
  takeOvers(config),
  historyCleaning(config),
  staleConductors(config),
  sensorData(config),
  ...driverTasks(drivers),
]
