/** All routes of the API. */
import type { Route } from '../resource.ts'
import type { ReservedWords } from '../router.ts'
import { chassisRoutes } from './chassis/routes.ts'
import { nodeReservedWords, nodeRoutes } from './nodes/routes.ts'

export const routes: readonly Route[] = [...chassisRoutes, ...nodeRoutes]

export const reservedWords: readonly ReservedWords[] = [nodeReservedWords]
