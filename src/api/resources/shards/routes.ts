import { listShards } from '../../../db/nodes.ts'
import { RoutingFault } from '../../faults.ts'
import { route } from '../../resource.ts'

const listShardsRoute = route({
  method: 'GET',
  path: '/v1/shards',
  since: 82,
  outside: 'routing 404',
  policy: 'baremetal:shards:get',
  summary: 'The shards and how many nodes each has.',
  handler: async ({ api }) => ({ shards: await listShards(api.db) }),
})

/** A single shard is nothing that could be shown. */
const noSingleShard = route({
  method: 'GET',
  path: '/v1/shards/:shard',
  policy: [],
  handler() {
    throw new RoutingFault(404)
  },
})

export const shardRoutes = [listShardsRoute, noSingleShard]
