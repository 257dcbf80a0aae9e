import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { getNode } from '../../../db/nodes.ts'
import {
  createPortgroup,
  listPortgroupRows,
  type PortgroupFilters,
  type PortgroupValues,
} from '../../../db/portgroups.ts'
import { ClientSideError, Invalid, NotAcceptable } from '../../../errors/base.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node, Portgroup } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, patched, PatchBody, patchedFields, patchValues, readPatched, updatable } from '../../bodies.ts'
import { collectionOnly } from '../../collection-only.ts'
import { RoutingFault } from '../../faults.ts'
import { resourceUrl } from '../../links.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import {
  isOpen,
  jsonText,
  optional,
  route,
  type AnyCall,
  type ArgumentsOf,
  type Field,
  type Reply,
} from '../../resource.ts'
import { MacAddress, TextList, UuidOrName, type Members } from '../../values.ts'
import { conductorOf } from '../nodes/conductor-of.ts'
import { linkableNode } from '../nodes/rules.ts'
import { isNameIn } from '../nodes/visible.ts'
import { listedProject, nodeForNew, parentNode, visiblePortgroup } from '../ports/access.ts'
import { portgroupFields } from './fields.ts'
import { portgroupDetailView, gatedFields, portgroupText, portgroupView } from './view.ts'

const window = { since: 23 } as const
const fields: Readonly<Record<string, Field>> = portgroupFields
const listRules = ['baremetal:portgroup:list_all', 'baremetal:portgroup:list'] as const

const filterArgs = {
  node: optional(UuidOrName),
  address: optional(MacAddress),
  shard: optional(TextList, { since: 106 }),
  conductor_groups: optional(TextList),
}
type ListArgs = Partial<ArgumentsOf<typeof filterArgs>> & ArgumentsOf<typeof pageArgs>

const some = (values: readonly string[] | undefined): boolean => values !== undefined && values.length > 0

/** @throws Invalid for filters that do not go together */
async function filtersOf(
  call: AnyCall,
  args: ListArgs,
  parent: Node | undefined,
  project: string | undefined,
): Promise<PortgroupFilters> {
  const named = parent !== undefined || args.node !== undefined
  const given = [named, args.address !== undefined, some(args.shard), some(args.conductor_groups)].filter(
    Boolean,
  ).length
  if (given > 1)
    throw new Invalid('Filtering by node, address, shard or conductor_groups simultaneously is not supported.')
  const node = parent ?? (args.node === undefined ? undefined : await getNode(call.api.db, args.node))
  return {
    ...(project === undefined ? {} : { project }),
    ...(node === undefined ? {} : { node_id: node.id }),
    ...(args.address === undefined ? {} : { address: args.address }),
    ...(some(args.shard) ? { shards: args.shard! } : {}),
    ...(some(args.conductor_groups) ? { conductor_groups: args.conductor_groups! } : {}),
  }
}

async function list(
  call: AnyCall,
  args: ListArgs,
  shown: readonly string[] | null,
  path: string,
  more: { readonly detail?: boolean | undefined; readonly parent?: Node } = {},
): Promise<Reply> {
  const project = listedProject(call, 'portgroup')
  const { sort_key: sortKey } = args
  if (sortKey !== undefined && gatedFields.includes(sortKey) && !isOpen(fields[sortKey]!, call.minor)) {
    throw new NotAcceptable(`Sorting by ${sortKey} needs API version 1.${fields[sortKey]!.since} or newer.`)
  }
  const page = pageOf(args, call.api.config, ['extra', 'internal_info', 'properties'])
  const { marker: _marker, limit: _limit, sort_key: _key, sort_dir: _dir, ...filters } = args
  const rows = await listPortgroupRows(call.api.db, {
    ...page,
    filters: await filtersOf(call, args, more.parent, project),
  })
  return listReply(call, {
    name: 'portgroups',
    rows,
    view: shown === null ? portgroupDetailView : portgroupView,
    context: { url: call.url },
    shown,
    path,
    page,
    parameters: { ...filters, detail: more.detail },
  })
}

const listPortgroups = route({
  ...window,
  method: 'GET',
  path: '/v1/portgroups',
  answer: listAnswer('portgroups', portgroupView),
  policy: listRules,
  asks: 'handler',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, ...filterArgs },
  handler(call) {
    const { fields: names, detail, ...args } = call.args
    portgroupView.check(names, call.minor)
    return list(call, args, shownFields(call.args, portgroupView.listed), 'portgroups', { detail })
  },
})

const listPortgroupsDetail = route({
  ...window,
  method: 'GET',
  path: '/v1/portgroups/detail',
  answer: listAnswer('portgroups', portgroupDetailView),
  action: true,
  policy: listRules,
  asks: 'handler',
  args: { ...pageArgs, ...filterArgs },
  handler: (call) => list(call, call.args, null, 'portgroups/detail'),
})

const nestedWindow = { since: 24, outside: 'routing 404' } as const
const portgroupsOfNode = [
  route({
    ...nestedWindow,
    method: 'GET',
    path: '/v1/nodes/:node/portgroups',
    policy: ['baremetal:node:get', ...listRules],
    asks: 'handler',
    args: { ...pageArgs, ...fieldArgs, ...detailArgs },
    async handler(call) {
      const { fields: names, detail, ...args } = call.args
      const parent = await parentNode(call, call.params['node']!)
      portgroupView.check(names, call.minor)
      return list(call, args, shownFields(call.args, portgroupView.listed), `nodes/${call.params['node']}/portgroups`, {
        detail,
        parent,
      })
    },
  }),
  route({
    ...nestedWindow,
    method: 'GET',
    path: '/v1/nodes/:node/portgroups/detail',
    policy: ['baremetal:node:get', ...listRules],
    asks: 'handler',
    args: pageArgs,
    async handler(call) {
      const parent = await parentNode(call, call.params['node']!)
      return list(call, call.args, null, `nodes/${call.params['node']}/portgroups/detail`, { parent })
    },
  }),
  ...collectionOnly('/v1/nodes/:node/portgroups', nestedWindow),
]

/** An identifier that cannot be one is a path that cannot be. */
const identOf = (call: AnyCall): string => {
  const ident = call.params['portgroup']!
  const shown = ident.slice(0, 64)
  if (!isUuidLike(ident) && !isNameIn(ident, 115))
    throw new RoutingFault(400, `Expected UUID or name for portgroup: ${shown}`)
  return ident
}

const showPortgroup = route({
  ...window,
  method: 'GET',
  path: '/v1/portgroups/:portgroup',
  answer: portgroupView,
  policy: ['baremetal:node:get', 'baremetal:portgroup:get'],
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const { portgroup } = await visiblePortgroup(call, 'baremetal:portgroup:get', identOf(call))
    portgroupView.check(call.args.fields, call.minor)
    return jsonText(portgroupText(call, portgroup, call.args.fields ?? null))
  },
})

function checkName(name: unknown, minor: number): void {
  if (name && (typeof name !== 'string' || !isNameIn(name, minor))) {
    throw new ClientSideError(
      `"${String(name).slice(0, 64)}" cannot be the name of a port group: it takes letters, digits, -, ., _ and ~.`,
    )
  }
}

/** Columns that are never null. */
const defaults = { standalone_ports_supported: true } as const

const createPortgroupRoute = route({
  ...window,
  method: 'POST',
  path: '/v1/portgroups',
  answer: portgroupView,
  status: 201,
  policy: ['baremetal:node:get', 'baremetal:portgroup:create'],
  asks: 'handler',
  body: createBody(portgroupFields),
  async handler(call) {
    const { node_uuid: nodeUuid, ...given } = call.body
    const node = await nodeForNew(call, nodeUuid as string, 'baremetal:portgroup:create', (ident) =>
      getNode(call.api.db, ident),
    )
    // the younger fields were never bound to their versions here
    if (call.minor < 26 && (given['mode'] || given['properties'])) {
      throw new NotAcceptable('mode and properties of a port group need API version 1.26 or newer.')
    }
    checkName(given['name'], call.minor)
    const values: Members = { ...given, uuid: given['uuid'] || randomUUID(), node_id: node.id }
    values['mode'] ||= call.api.config.DEFAULT.default_portgroup_mode
    for (const [name, value] of Object.entries(defaults)) values[name] ??= value
    const make = () => createPortgroup(call.api.db, values as PortgroupValues)
    const portgroup = await announced(call, 'portgroup.create', values, make, { node_uuid: node.uuid })
    return jsonText(portgroupText(call, portgroup), {
      location: resourceUrl(call.url, 'portgroups', portgroup.uuid ?? ''),
    })
  },
})

const allowed = updatable(portgroupFields)

const updatePortgroupRoute = route({
  ...window,
  method: 'PATCH',
  path: '/v1/portgroups/:portgroup',
  answer: portgroupView,
  policy: ['baremetal:node:get', 'baremetal:portgroup:update'],
  asks: 'handler',
  body: PatchBody,
  async handler(call) {
    const { body: patch } = call
    const { portgroup, node: owner } = await visiblePortgroup(call, 'baremetal:portgroup:update', identOf(call))
    const touched = patchedFields(patch, allowed, call.minor)
    if (call.minor < 26 && (touched.has('mode') || touched.has('properties'))) {
      throw new NotAcceptable('mode and properties of a port group need API version 1.26 or newer.')
    }
    for (const name of patchValues(patch, '/name')) checkName(name, call.minor)
    const [newNode] = patchValues(patch, '/node_uuid')
    const node = newNode ? await linkableNode(call, owner?.owner, newNode, 'node_uuid') : owner
    if (node === undefined) throw new NodeNotFound({ node: portgroup.node_uuid })
    const document: Members = { ...portgroup }
    delete document['node_id']
    const after: Members = { ...patched(document, patch), node_uuid: node.uuid }
    if (!('mode' in after)) throw new ClientSideError("'mode' is a mandatory attribute and can not be removed")
    const values = readPatched(portgroupFields, after, (name) => allowed.includes(name))
    if (node.provision_state === 'inspecting' && call.minor >= 39) {
      throw new ClientSideError(
        `Cannot update portgroup "${portgroup.uuid}" on node "${node.uuid}" while it is in state "inspecting".`,
        { code: 409 },
      )
    }
    const wanted: Members = { node_id: node.id, node_uuid: node.uuid }
    for (const name of allowed) if (name !== 'node_uuid') wanted[name] = values[name] ?? null
    for (const [name, value] of Object.entries(defaults)) wanted[name] ??= value
    const changes = Object.keys(wanted).filter(
      (name) => !isDeepStrictEqual(wanted[name], portgroup[name as keyof Portgroup]),
    ) as (keyof Portgroup)[]
    const conductor = await conductorOf(call, node)
    const portgroup_obj = { data: { ...portgroup, ...wanted }, changes }
    const change = async () => {
      const changed = await conductor.update_portgroup(call.context, { portgroup_obj })
      if (touched.has('physical_network')) {
        // the ports of the group follow it
        await conductor.update_portgroup_physical_network(call.context, {
          portgroup: portgroup_obj,
          new_physical_network: (wanted['physical_network'] as string | null) ?? null,
        })
      }
      return changed
    }
    const updated = await announced(call, 'portgroup.update', portgroup_obj.data, change, { node_uuid: node.uuid })
    return jsonText(portgroupText(call, updated))
  },
})

const deletePortgroup = route({
  ...window,
  method: 'DELETE',
  path: '/v1/portgroups/:portgroup',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:portgroup:delete'],
  asks: 'handler',
  async handler(call) {
    const { portgroup, node } = await visiblePortgroup(call, 'baremetal:portgroup:delete', identOf(call))
    if (node === undefined) throw new NodeNotFound({ node: portgroup.node_uuid })
    const conductor = await conductorOf(call, node)
    const destroy = () => conductor.destroy_portgroup(call.context, { portgroup: { data: portgroup, changes: [] } })
    await announced(call, 'portgroup.delete', portgroup, destroy, { node_uuid: node.uuid })
  },
})

export const portgroupRoutes = [
  listPortgroups,
  listPortgroupsDetail,
  ...portgroupsOfNode,
  showPortgroup,
  createPortgroupRoute,
  updatePortgroupRoute,
  deletePortgroup,
]
