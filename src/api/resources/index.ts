/** All routes of the API. */
import type { Route } from '../resource.ts'
import type { ReservedWords } from '../router.ts'
import { allocationRoutes } from './allocations/routes.ts'
import { chassisRoutes } from './chassis/routes.ts'
import { deployTemplateRoutes } from './deploy-templates/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { inspectionRuleRoutes } from './inspection-rules/routes.ts'
import { nodeReservedWords, nodeRoutes } from './nodes/routes.ts'
import { conductorRoutes } from './conductors/routes.ts'
import { driverRoutes } from './drivers/routes.ts'
import { portgroupRoutes } from './portgroups/routes.ts'
import { portRoutes } from './ports/routes.ts'
import { ramdiskRoutes } from './ramdisk/routes.ts'
import { runbookRoutes } from './runbooks/routes.ts'
import { runbookTraitRoutes } from './runbooks/traits.ts'
import { shardRoutes } from './shards/routes.ts'
import { volumeRoutes } from './volume/routes.ts'

export const routes: readonly Route[] = [
  ...chassisRoutes,
  ...nodeRoutes,
  ...allocationRoutes,
  ...deployTemplateRoutes,
  ...eventRoutes,
  ...inspectionRuleRoutes,
  ...conductorRoutes,
  ...driverRoutes,
  ...portgroupRoutes,
  ...portRoutes,
  ...ramdiskRoutes,
  ...runbookRoutes,
  ...runbookTraitRoutes,
  ...shardRoutes,
  ...volumeRoutes,
]

export const reservedWords: readonly ReservedWords[] = [nodeReservedWords]
