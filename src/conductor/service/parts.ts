import type { ConductorService } from '../../rpc/conductor.ts'
import type { ConductorRing } from '../../rpc/ring.ts'
import type { TaskParts, Tasks } from '../tasks.ts'

/** What the RPC methods work with. */
export interface ServiceParts extends TaskParts {
  readonly tasks: Tasks
  readonly ring: ConductorRing
}

/** Some of the conductor's RPC methods. */
export type Methods<K extends keyof ConductorService> = Pick<ConductorService, K>
