import { listShards } from '../../../db/nodes.ts'
import { NotFound } from '../../../errors/base.ts'
import { route } from '../../resource.ts'

const listShardsRoute = route({
  method: 'GET',
  path: '/v1/shards',
  since: 82,
  outside: 404,
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
    throw new NotFound({})
  },
})

export const shardRoutes = [listShardsRoute, noSingleShard]
