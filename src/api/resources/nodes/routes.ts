/** All routes of nodes, apart from the resources that are only listed below them. */
import type { ReservedWords } from '../../router.ts'
import { nodeChildrenRoutes } from './children.ts'
import { nodeCreateRoutes } from './create.ts'
import { nodeHardwareDataRoutes } from './hardware-data.ts'
import { nodeHistoryRoutes } from './history.ts'
import { nodeListRoutes } from './list.ts'
import { nodeMaintenanceRoutes } from './maintenance.ts'
import { nodeManagementRoutes } from './management.ts'
import { nodePatchRoutes } from './patch.ts'
import { nodeProvisionRoutes } from './provision.ts'
import { nodeShowRoutes } from './show.ts'
import { nodeStatesRoutes } from './states.ts'
import { nodeTraitRoutes } from './traits.ts'
import { nodeVendorRoutes } from './vendor-passthru.ts'
import { nodeVifRoutes } from './vifs.ts'
import { nodeVmediaRoutes } from './vmedia.ts'

export const nodeRoutes = [
  ...nodeListRoutes,
  ...nodeShowRoutes,
  ...nodeCreateRoutes,
  ...nodePatchRoutes,
  ...nodeStatesRoutes,
  ...nodeProvisionRoutes,
  ...nodeMaintenanceRoutes,
  ...nodeManagementRoutes,
  ...nodeTraitRoutes,
  ...nodeVifRoutes,
  ...nodeVmediaRoutes,
  ...nodeHardwareDataRoutes,
  ...nodeHistoryRoutes,
  ...nodeChildrenRoutes,
  ...nodeVendorRoutes,
]

/** Names of what is below a node cannot stand in the place of a node. */
export const nodeReservedWords: ReservedWords = {
  parameter: '/v1/nodes/:node',
  missing: new Set([
    'ports',
    'portgroups',
    'vifs',
    'volume',
    'traits',
    'bios',
    'allocation',
    'history',
    'inventory',
    'children',
    'firmware',
    'vmedia',
  ]),
  incomplete: new Set(['states', 'vendor_passthru', 'maintenance', 'management']),
}
