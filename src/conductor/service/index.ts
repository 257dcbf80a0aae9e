import type { ConductorService } from '../../rpc/conductor.ts'
import { agentMethods } from './agent.ts'
import { allocationMethods } from './allocations.ts'
import { consoleMethods } from './console.ts'
import { driverMethods } from './drivers.ts'
import { managementMethods } from './management.ts'
import { nodeMethods } from './nodes.ts'
import { objectMethods } from './objects.ts'
import type { ServiceParts } from './parts.ts'
import { portMethods } from './ports.ts'
import { powerMethods } from './power.ts'
import { provisionMethods } from './provision.ts'
import { raidMethods } from './raid.ts'
import { traitMethods } from './traits.ts'
import { vifMethods } from './vifs.ts'
import { volumeMethods } from './volumes.ts'

/** All RPC methods of the conductor. */
export const conductorService = (parts: ServiceParts): ConductorService => ({
  ...agentMethods(parts),
  ...allocationMethods(parts),
  ...consoleMethods(parts),
  ...driverMethods(parts),
  ...managementMethods(parts),
  ...nodeMethods(parts),
  ...objectMethods(),
  ...portMethods(parts),
  ...powerMethods(parts),
  ...provisionMethods(parts),
  ...raidMethods(parts),
  ...traitMethods(parts),
  ...vifMethods(parts),
  ...volumeMethods(parts),
})
