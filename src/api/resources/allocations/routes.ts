import { randomUUID } from 'node:crypto'
import { getAllocation, listAllocationRows, updateAllocation, type AllocationValues } from '../../../db/allocations.ts'
import type { Row } from '../../../db/codec.ts'
import { checkNodeList, getNode, getNodeById } from '../../../db/nodes.ts'
import { AllocationNotFound } from '../../../errors/allocation.ts'
import { Invalid, NotAuthorized } from '../../../errors/base.ts'
import { InvalidUuidOrName } from '../../../errors/general.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { isLogicalName } from '../../../lib/text/names.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Allocation, Node } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, PatchBody, patched, patchedFields, patchValues, readPatched, updatable } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import { listAnswer, fieldArgs, listReply, pageArgs, pageOf } from '../../listing.ts'
import { projectOfList } from '../../project-lists.ts'
import { jsonText, optional, route, type AnyCall } from '../../resource.ts'
import { orWithSuffix } from '../../suffix.ts'
import { Text } from '../../values.ts'
import { defineView, rowOf } from '../../view.ts'
import { conductorOf } from '../nodes/conductor-of.ts'
import { nodeTarget } from '../nodes/view.ts'
import { visibleNode } from '../nodes/visible.ts'
import { allocationTarget, authorizeCreate, candidateProject } from './authorize.ts'
import { allocationFields } from './fields.ts'

const view = defineView({ fields: allocationFields, resource: 'allocations', extrasNamed: true })
const versions = { since: 52, outside: 404 } as const
const changing = { since: 52, outside: 405 } as const
/** Below a node the path does not exist at all. */
const nested = { since: 52, outside: 'routing 404' } as const

const shown = (call: AnyCall, row: Row, names: readonly string[] | null = null): string =>
  view.writer(call.minor, names)(row, { url: call.url })

/** The allocation with the uuid of its node. */
async function rowFor(call: AnyCall, allocation: Allocation): Promise<Row> {
  const node = await nodeOf(call, allocation)
  return { ...rowOf(allocation), node_uuid: node?.uuid ?? null }
}

async function nodeOf(call: AnyCall, { node_id }: Allocation): Promise<Node | undefined> {
  if (node_id === null) return undefined
  try {
    return await getNodeById(call.api.db, node_id)
  } catch (error) {
    if (!(error instanceof NodeNotFound)) throw error
    return undefined
  }
}

function identOf(text: unknown): string {
  if (isUuidLike(text) || isLogicalName(text)) return text
  throw new InvalidUuidOrName({ name: String(text).slice(0, 128) })
}

/** The allocation of the path: 404 for who may not see it, 403 for who may not do what is asked. */
async function authorized(call: AnyCall, rule: string): Promise<Allocation> {
  const ident = identOf(call.params['allocation'])
  const allocation = await orWithSuffix(call, ident, AllocationNotFound, (name) => getAllocation(call.api.db, name))
  const target = allocationTarget(allocation)
  if (!call.api.policy.allows(call.context, 'baremetal:allocation:get', target)) {
    throw new AllocationNotFound({ allocation: ident })
  }
  call.api.policy.authorize(call.context, rule, target)
  return allocation
}

/**
 * The node whose allocations are asked for.
 * @throws NodeNotFound, as a bad request when it does not exist; who may not list all nodes cannot tell that from one that
 * is hidden
 */
async function nodeFilter(call: AnyCall, ident: string): Promise<Node> {
  const node = await getNode(call.api.db, ident).catch((cause: unknown) => {
    if (!(cause instanceof NodeNotFound)) throw cause
    const seesAll = call.api.policy.allows(call.context, 'baremetal:node:list_all')
    throw new NodeNotFound(cause.message, { code: seesAll ? 400 : 404, cause })
  })
  if (!call.api.policy.allows(call.context, 'baremetal:node:get', nodeTarget(node))) {
    throw new NodeNotFound({ node: ident })
  }
  return node
}

const listAllocations = route({
  method: 'GET',
  path: '/v1/allocations',
  answer: listAnswer('allocations', view),
  ...versions,
  policy: ['baremetal:allocation:list_all', 'baremetal:allocation:list'],
  asks: 'handler',
  args: {
    ...pageArgs,
    ...fieldArgs,
    node: optional(Text),
    resource_class: optional(Text),
    state: optional(Text),
    owner: optional(Text, { since: 60 }),
  },
  async handler(call) {
    const { fields, node: ident, resource_class, state, owner: asked } = call.args
    const owner = projectOfList(call, 'allocation', asked)
    if (asked !== undefined && owner !== undefined && asked !== owner)
      throw new NotAuthorized('Those are not yours to see.')
    view.check(fields, call.minor)
    const page = pageOf(call.args, call.api.config, ['extra', 'candidate_nodes', 'traits'])
    const node = ident === undefined ? undefined : await nodeFilter(call, ident)
    const rows = await listAllocationRows(call.api.db, {
      ...page,
      filters: {
        ...(node === undefined ? {} : { node_id: node.id }),
        ...(resource_class === undefined ? {} : { resource_class }),
        ...(state === undefined ? {} : { state }),
        ...(owner === undefined ? {} : { owner }),
      },
    })
    for (const row of rows) call.api.policy.authorize(call.context, 'baremetal:allocation:get', allocationTarget(row))
    return listReply(call, {
      name: 'allocations',
      rows,
      view,
      context: { url: call.url },
      shown: fields ?? null,
      path: 'allocations',
      page,
      parameters: { node: ident, resource_class, state, owner: asked },
    })
  },
})

const showAllocation = route({
  method: 'GET',
  path: '/v1/allocations/:allocation',
  answer: view,
  ...versions,
  policy: 'baremetal:allocation:get',
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const allocation = await authorized(call, 'baremetal:allocation:get')
    view.check(call.args.fields, call.minor)
    return jsonText(shown(call, await rowFor(call, allocation), call.args.fields ?? null))
  },
})

/** The node whose instance gets an allocation afterwards. @throws NodeNotFound as a bad request */
async function backfilled(call: AnyCall, ident: string | null | undefined): Promise<Node | undefined> {
  if (!ident) return undefined
  if (call.minor < 58) throw new Invalid('An allocation for a known node needs API version 1.58 or newer.')
  try {
    return await visibleNode(call, [], { ident })
  } catch (cause) {
    if (!(cause instanceof NodeNotFound)) throw cause
    throw new NodeNotFound(cause.message, { code: 400, cause })
  }
}

/** Uuids of the candidates, in the order they are named. @throws NodeNotFound as a bad request */
async function candidates(call: AnyCall, idents: readonly string[]): Promise<string[]> {
  if (idents.length === 0) return []
  try {
    const uuids = await checkNodeList(call.api.db, idents, candidateProject(call))
    return idents.map((ident) => uuids.get(ident) ?? ident)
  } catch (cause) {
    if (!(cause instanceof NodeNotFound)) throw cause
    throw new NodeNotFound(cause.message, { code: 400, cause })
  }
}

/** @throws Invalid */
function checkName(name: unknown): void {
  if (!name || isLogicalName(name)) return
  throw new Invalid(`"${String(name).slice(0, 64)}" cannot be a name: it takes letters, digits, -, ., _ and ~.`)
}

const createAllocation = route({
  method: 'POST',
  path: '/v1/allocations',
  answer: view,
  ...changing,
  status: 201,
  policy: ['baremetal:allocation:create', 'baremetal:allocation:create_restricted', 'baremetal:node:get'],
  asks: 'handler',
  body: createBody(allocationFields),
  fields: allocationFields,
  async handler(call) {
    const { node: ident, ...body } = call.body as AllocationValues & { node?: string | null }
    const { owner } = authorizeCreate(call, body.owner ?? null)
    checkName(body.name)
    const node = await backfilled(call, ident)
    const resource_class = body.resource_class || node?.resource_class
    if (!resource_class)
      throw new Invalid('resource_class is missing; it may be left out only with a node that has one.')
    const uuid = body.uuid || node?.instance_uuid || randomUUID()
    const values = {
      ...body,
      uuid,
      owner,
      resource_class,
      candidate_nodes: await candidates(call, body.candidate_nodes ?? []),
      ...(node === undefined ? {} : { node_id: node.id }),
    }
    const conductor = await (node === undefined ? call.api.conductors.any() : conductorOf(call, node))
    const changes = Object.keys(values) as (keyof Allocation)[]
    const data = { ...emptyAllocation, ...values }
    const make = () => conductor.create_allocation(call.context, { allocation: { data, changes } })
    const allocation = await announced(call, 'allocation.create', data, make, { node_uuid: node?.uuid ?? null })
    return jsonText(shown(call, await rowFor(call, allocation)), {
      location: resourceUrl(call.url, 'allocations', uuid),
    })
  },
})

const emptyAllocation: Omit<Allocation, 'id'> & { id: number } = {
  id: 0,
  uuid: null,
  name: null,
  node_id: null,
  state: null,
  last_error: null,
  resource_class: null,
  traits: [],
  candidate_nodes: [],
  extra: {},
  conductor_affinity: null,
  owner: null,
  created_at: null,
  updated_at: null,
}

const allowed = updatable(allocationFields)

const updateAllocationRoute = route({
  method: 'PATCH',
  path: '/v1/allocations/:allocation',
  answer: view,
  since: 57,
  outside: 405,
  policy: ['baremetal:allocation:get', 'baremetal:allocation:update'],
  asks: 'handler',
  body: PatchBody,
  async handler(call) {
    const allocation = await authorized(call, 'baremetal:allocation:update')
    patchedFields(call.body, allowed, call.minor)
    patchValues(call.body, '/name').forEach(checkName)
    const after = readPatched(allocationFields, patched(allocation, call.body), (name) => allowed.includes(name))
    const { name = null, extra = null } = after as AllocationValues
    const node = await nodeOf(call, allocation)
    const changed = await announced(
      call,
      'allocation.update',
      { ...allocation, name, extra },
      () => updateAllocation(call.api.db, allocation.id, { name, extra }),
      { node_uuid: node?.uuid ?? null },
    )
    return jsonText(shown(call, await rowFor(call, changed)))
  },
})

/** Any conductor can undo an allocation. */
async function destroy(call: AnyCall, allocation: Allocation): Promise<void> {
  const conductor = await call.api.conductors.any()
  const node = await nodeOf(call, allocation)
  await announced(
    call,
    'allocation.delete',
    allocation,
    () => conductor.destroy_allocation(call.context, { allocation: { data: allocation, changes: [] } }),
    { node_uuid: node?.uuid ?? null },
  )
}

const deleteAllocation = route({
  method: 'DELETE',
  path: '/v1/allocations/:allocation',
  ...changing,
  status: 204,
  policy: ['baremetal:allocation:get', 'baremetal:allocation:delete'],
  asks: 'handler',
  handler: async (call) => destroy(call, await authorized(call, 'baremetal:allocation:delete')),
})

/** The allocation of a node. @throws AllocationNotFound when it has none */
async function allocationOfNode(call: AnyCall, node: Node): Promise<Row> {
  const [row] = await listAllocationRows(call.api.db, { limit: 1, filters: { node_id: node.id } })
  if (row === undefined) throw new AllocationNotFound(`Node ${call.params['node']} has no allocation.`)
  return row
}

const showOfNode = route({
  method: 'GET',
  path: '/v1/nodes/:node/allocation',
  answer: view,
  ...nested,
  policy: ['baremetal:node:get', 'baremetal:allocation:get'],
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const node = await nodeFilter(call, call.params['node']!)
    const row = await allocationOfNode(call, node)
    call.api.policy.authorize(call.context, 'baremetal:allocation:get', allocationTarget(row))
    view.check(fields, call.minor)
    return jsonText(shown(call, row, fields ?? null))
  },
})

const deleteOfNode = route({
  method: 'DELETE',
  path: '/v1/nodes/:node/allocation',
  ...nested,
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:allocation:delete'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, [], { suffix: true })
    const row = await allocationOfNode(call, node)
    call.api.policy.authorize(call.context, 'baremetal:allocation:delete', allocationTarget(row))
    await destroy(call, await getAllocation(call.api.db, String(row['uuid'])))
  },
})

export const allocationRoutes = [
  listAllocations,
  showAllocation,
  createAllocation,
  updateAllocationRoute,
  deleteAllocation,
  showOfNode,
  deleteOfNode,
]
