import { listShards } from '../../../db/nodes.ts'
import { route } from '../../resource.ts'

const listShardsRoute = route({
  method: 'GET',
  path: '/v1/shards',
  since: 82,
  outside: 'routing 404',
  extra: 404,
  policy: 'baremetal:shards:get',
  summary: 'The shards and how many nodes each has.',
  handler: async ({ api }) => ({ shards: await listShards(api.db) }),
})

export const shardRoutes = [listShardsRoute]
