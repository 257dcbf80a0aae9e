import { listNodeRows } from '../../../db/nodes.ts'
import { HTTPForbidden } from '../../../errors/base.ts'
import { HTTPNotFound } from '../../../errors/general.ts'
import { resourceUrl } from '../../links.ts'
import { route } from '../../resource.ts'
import { listedProject } from './list.ts'
import { visibleNode } from './visible.ts'

const listChildren = route({
  method: 'GET',
  path: '/v1/nodes/:node/children',
  since: 83,
  outside: 'routing 404',
  policy: ['baremetal:node:get', 'baremetal:node:list_all', 'baremetal:node:list'],
  asks: 'handler',
  async handler(call) {
    const parent = await visibleNode(call, 'baremetal:node:get').catch((error: unknown) => {
      if (error instanceof HTTPForbidden) throw new HTTPNotFound({}, { cause: error })
      throw error
    })
    const project = listedProject(call)
    const uuid = parent.uuid ?? ''
    const children = await listNodeRows(call.api.db, {
      filters: { parent_node: uuid, ...(project === undefined ? {} : { project }) },
      fields: ['uuid'],
    })
    return {
      children: children.map((child) => child.uuid),
      links: { href: resourceUrl(call.url, 'nodes', `?parent_node=${uuid}`), rel: 'children' },
    }
  },
})

export const nodeChildrenRoutes = [listChildren]
