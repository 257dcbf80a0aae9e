import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { getNode } from '../../../db/nodes.ts'
import { getPortgroup, getPortgroupById } from '../../../db/portgroups.ts'
import { listPortRows, type PortFilters } from '../../../db/ports.ts'
import {
  BadRequest,
  ClientSideError,
  Conflict,
  Invalid,
  InvalidParameterValue,
  NotAcceptable,
} from '../../../errors/base.ts'
import { OperationNotPermitted } from '../../../errors/general.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { PortgroupNotFound } from '../../../errors/port.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node, Port, Portgroup } from '../../../objects/index.ts'
import { PortObject } from '../../../objects/port.ts'
import { announced } from '../../announce.ts'
import {
  createBody,
  isPathRemoved,
  patched,
  PatchBody,
  patchedFields,
  patchValues,
  readPatched,
  updatable,
} from '../../bodies.ts'
import { collectionOnly } from '../../collection-only.ts'
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
import { MacAddress, Text, TextList, Uuid, UuidOrName, type Members } from '../../values.ts'
import { conductorOf } from '../nodes/conductor-of.ts'
import { linkableNode } from '../nodes/rules.ts'
import { listedProject, nodeForNew, parentNode, parentPortgroup, visiblePort } from './access.ts'
import { portFields } from './fields.ts'
import { checkSmartNic } from './link.ts'
import { portText, portView, portViewContext } from './view.ts'

const unsortable = ['extra', 'internal_info', 'local_link_connection']
const fields: Readonly<Record<string, Field>> = portFields

/** Filters of every list of ports. */
const ownFilterArgs = { address: optional(MacAddress), description_contains: optional(Text) }
const filterArgs = {
  ...ownFilterArgs,
  node: optional(UuidOrName),
  node_uuid: optional(Uuid),
  portgroup: optional(UuidOrName, { since: 24 }),
  shard: optional(TextList, { since: 82 }),
  conductor_groups: optional(TextList),
}
type Filters = Partial<ArgumentsOf<typeof filterArgs>>
type ListArgs = Filters & ArgumentsOf<typeof pageArgs>

interface Parent {
  readonly node?: Node
  readonly portgroup?: Portgroup
}

const some = (values: readonly string[] | undefined): boolean => values !== undefined && values.length > 0

async function nodeNamed(call: AnyCall, ident: string): Promise<Node> {
  if (call.minor < 5 && !isUuidLike(ident)) throw new NotAcceptable('Naming a node needs API version 1.5 or newer.')
  return getNode(call.api.db, ident)
}

/** @throws OperationNotPermitted, Invalid for filters that do not go together */
async function filtersOf(
  call: AnyCall,
  args: Filters,
  parent: Parent,
  project: string | undefined,
): Promise<PortFilters> {
  const nodeIdent = parent.node?.uuid ?? args.node_uuid ?? args.node
  const portgroupIdent = parent.portgroup?.uuid ?? args.portgroup
  const given = [nodeIdent !== undefined, portgroupIdent !== undefined, some(args.shard)].filter(Boolean).length
  if (given > 1) throw new OperationNotPermitted({})
  if (
    some(args.conductor_groups) &&
    (nodeIdent !== undefined || portgroupIdent !== undefined || args.address !== undefined)
  ) {
    throw new Invalid('Filtering by conductor_groups cannot be combined with node, portgroup, or address filters.')
  }
  const node = parent.node ?? (nodeIdent === undefined ? undefined : await nodeNamed(call, nodeIdent))
  const portgroup =
    parent.portgroup ?? (portgroupIdent === undefined ? undefined : await getPortgroup(call.api.db, portgroupIdent))
  return {
    ...(project === undefined ? {} : { project }),
    ...(args.description_contains ? { description_contains: args.description_contains } : {}),
    ...(node === undefined ? {} : { node_id: node.id }),
    ...(portgroup === undefined ? {} : { portgroup_id: portgroup.id }),
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
  more: { readonly detail?: boolean | undefined; readonly parent?: Parent } = {},
): Promise<Reply> {
  const project = listedProject(call, 'port')
  const sortField =
    args.sort_key !== undefined && Object.hasOwn(fields, args.sort_key) ? fields[args.sort_key] : undefined
  if (sortField !== undefined && args.sort_key !== 'internal_info' && !isOpen(sortField, call.minor)) {
    throw new NotAcceptable(`Sorting by ${args.sort_key} needs API version 1.${sortField.since} or newer.`)
  }
  const page = pageOf(args, call.api.config, unsortable)
  const { marker: _marker, limit: _limit, sort_key: _key, sort_dir: _dir, ...filters } = args
  const found = await listPortRows(call.api.db, {
    ...page,
    filters: await filtersOf(call, filters, more.parent ?? {}, project),
  })
  // their node was deleted meanwhile, and so were they
  const rows = found.filter((row) => row['node_uuid'] !== null)
  return listReply(call, {
    name: 'ports',
    rows,
    view: portView,
    context: await portViewContext(call, rows, shown),
    shown,
    path,
    page,
    parameters: { ...filters, detail: more.detail },
  })
}

const listRules = ['baremetal:port:list_all', 'baremetal:port:list'] as const

const listPorts = route({
  method: 'GET',
  path: '/v1/ports',
  answer: listAnswer('ports', portView),
  policy: listRules,
  asks: 'handler',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, ...filterArgs },
  handler(call) {
    const { fields: names, detail, ...args } = call.args
    portView.check(names, call.minor)
    return list(call, args, shownFields(call.args, portView.listed), 'ports', { detail })
  },
})

const listPortsDetail = route({
  method: 'GET',
  path: '/v1/ports/detail',
  answer: listAnswer('ports', portView),
  action: true,
  policy: listRules,
  asks: 'handler',
  args: { ...pageArgs, ...filterArgs },
  handler: (call) => list(call, call.args, null, 'ports/detail'),
})

/** Lists below a node or a port group. */
const nested = (
  base: string,
  window: { since?: number; outside?: 'routing 404' },
  parentOf: (call: AnyCall) => Promise<Parent>,
) => [
  route({
    ...window,
    method: 'GET',
    path: `/v1/${base}/ports`,
    policy: ['baremetal:node:get', ...listRules],
    asks: 'handler',
    args: { ...pageArgs, ...fieldArgs, ...detailArgs, ...ownFilterArgs },
    async handler(call) {
      const { fields: names, detail, ...args } = call.args
      const parent = await parentOf(call)
      portView.check(names, call.minor)
      return list(call, args, shownFields(call.args, portView.listed), nestedPath(call, base), { detail, parent })
    },
  }),
  route({
    ...window,
    method: 'GET',
    path: `/v1/${base}/ports/detail`,
    policy: ['baremetal:node:get', ...listRules],
    asks: 'handler',
    args: { ...pageArgs, ...ownFilterArgs },
    async handler(call) {
      return list(call, call.args, null, `${nestedPath(call, base)}/detail`, { parent: await parentOf(call) })
    },
  }),
  ...collectionOnly(`/v1/${base}/ports`, window),
]
const nestedPath = (call: AnyCall, base: string): string =>
  `${base.replace(/:(\w+)/, (_all, name: string) => call.params[name]!)}/ports`

const portsOfNode = nested('nodes/:node', {}, async (call) => ({ node: await parentNode(call, call.params['node']!) }))
const portsOfPortgroup = nested('portgroups/:portgroup', { since: 24, outside: 'routing 404' }, async (call) => ({
  portgroup: await parentPortgroup(call, call.params['portgroup']!),
}))

const showPort = route({
  method: 'GET',
  path: '/v1/ports/:port',
  answer: portView,
  policy: ['baremetal:node:get', 'baremetal:port:get'],
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const { port } = await visiblePort(call, 'baremetal:port:get', UuidOrName.read('port_ident', call.params['port']))
    portView.check(call.args.fields, call.minor)
    return jsonText(await portText(call, port, call.args.fields ?? null))
  },
})

/** Parts of a link that came, or went, with a version. @throws NotAcceptable */
function checkLinkVersion(link: Members | null | undefined, minor: number): void {
  if (!link) return
  if ('network_type' in link && minor < 64)
    throw new NotAcceptable('network_type in local_link_connection needs API version 1.64 or newer.')
  if ('vtep-logical-switch' in link && (minor < 90 || minor >= 105)) {
    throw new NotAcceptable('VTEP switches in local_link_connection exist in API versions 1.90 to 1.104 only.')
  }
}

/** @throws PortgroupNotFound as a bad request */
async function portgroupNamed(call: AnyCall, uuid: string): Promise<Portgroup> {
  try {
    return await getPortgroup(call.api.db, uuid)
  } catch (cause) {
    if (!(cause instanceof PortgroupNotFound)) throw cause
    throw new PortgroupNotFound(cause.message, { code: 400, cause })
  }
}

function checkPortgroup(portgroup: Portgroup | undefined, node: Node, pxeEnabled: unknown): void {
  if (portgroup === undefined) return
  if (portgroup.node_id !== node.id) {
    throw new BadRequest('Port can not be added to a portgroup belonging to a different node.')
  }
  if (pxeEnabled === true && !portgroup.standalone_ports_supported) {
    throw new Conflict(
      `Port group ${portgroup.uuid} doesn't support standalone ports: a port with pxe_enabled cannot be its member.`,
    )
  }
}

const nothing = (object: { fields: Readonly<Record<string, unknown>> }): Members =>
  Object.fromEntries(Object.keys(object.fields).map((name) => [name, null]))

const createPort = route({
  method: 'POST',
  path: '/v1/ports',
  answer: portView,
  status: 201,
  policy: ['baremetal:node:get', 'baremetal:port:create'],
  asks: 'handler',
  body: createBody(portFields),
  fields: portFields,
  async handler(call) {
    const { node_uuid: nodeUuid, node_ident: nodeIdent, portgroup_uuid: portgroupUuid, ...values } = call.body
    if ((nodeUuid === undefined) === (nodeIdent === undefined)) {
      throw new InvalidParameterValue('Name the node of the port by either node_uuid or node_ident.')
    }
    const ident = (nodeIdent ?? nodeUuid) as string
    const node = await nodeForNew(call, ident, 'baremetal:port:create', (name) => getNode(call.api.db, name))
    checkLinkVersion(values['local_link_connection'] as Members | null, call.minor)
    const portgroup = portgroupUuid ? await portgroupNamed(call, portgroupUuid as string) : undefined
    checkPortgroup(portgroup, node, values['pxe_enabled'])
    // without a link nothing is checked, as with real Ironic
    if (values['is_smartnic'] === true && values['local_link_connection'] != null)
      checkSmartNic(values['local_link_connection'])
    if (values['physical_network'] === '')
      throw new Invalid('A non-empty value is required when setting physical_network')
    const sent: Members = {
      ...values,
      uuid: values['uuid'] || randomUUID(),
      node_id: node.id,
      node_uuid: node.uuid,
      portgroup_id: portgroup?.id ?? null,
    }
    for (const [name, value] of Object.entries(defaults)) sent[name] ??= value
    const conductor = await conductorOf(call, node)
    const data = { ...nothing(PortObject), ...sent } as Port
    const changes = Object.keys(sent) as (keyof Port)[]
    const make = () => conductor.create_port(call.context, { port_obj: { data, changes } })
    const port = await announced(call, 'port.create', data, make, {
      node_uuid: node.uuid,
      portgroup_uuid: portgroup?.uuid ?? null,
    })
    return jsonText(await portText(call, port), { location: resourceUrl(call.url, 'ports', port.uuid ?? '') })
  },
})

/** Columns that are never null. */
const defaults = { pxe_enabled: true, is_smartnic: false, available_for_dynamic_portgroup: true } as const

const allowed = updatable(portFields)
/** Fields whose version a patch is checked for; the younger ones never were. */
const versioned = ['pxe_enabled', 'local_link_connection', 'portgroup_uuid', 'physical_network', 'is_smartnic']

function checkPatchVersions(patch: Parameters<typeof patchValues>[0], minor: number): void {
  for (const name of versioned) {
    const path = `/${name}`
    const touched = patchValues(patch, path).length > 0 || isPathRemoved(patch, path)
    if (touched && !isOpen(fields[name]!, minor))
      throw new NotAcceptable(`The field ${name} needs API version 1.${fields[name]!.since} or newer.`)
  }
  const type = '/local_link_connection/network_type'
  if (minor < 64 && (patchValues(patch, type).length > 0 || isPathRemoved(patch, type))) {
    throw new NotAcceptable('network_type in local_link_connection needs API version 1.64 or newer.')
  }
}

const touches = (patch: Parameters<typeof patchValues>[0], path: string): boolean =>
  patch.some((operation) => operation.path === path)

async function portgroupAfter(call: AnyCall, uuid: unknown): Promise<Portgroup | undefined> {
  return uuid ? portgroupNamed(call, Uuid.read('portgroup_uuid', uuid)) : undefined
}

const updatePort = route({
  method: 'PATCH',
  path: '/v1/ports/:port',
  answer: portView,
  policy: ['baremetal:node:get', 'baremetal:port:update'],
  asks: 'handler',
  body: PatchBody,
  async handler(call) {
    const { body: patch } = call
    const ident = UuidOrName.read('port_ident', call.params['port'])
    patchedFields(patch, allowed, call.minor)
    checkPatchVersions(patch, call.minor)
    const { port, node: owner } = await visiblePort(call, 'baremetal:port:update', ident)
    const [newNode] = patchValues(patch, '/node_uuid')
    const node = newNode ? await linkableNode(call, owner?.owner, newNode, 'node_uuid') : owner
    if (node === undefined) throw new NodeNotFound({ node: port.node_uuid })
    const current = port.portgroup_id === null ? undefined : await getPortgroupById(call.api.db, port.portgroup_id)
    const document: Members = { ...port, portgroup_uuid: current?.uuid ?? null }
    delete document['node_id']
    delete document['portgroup_id']
    const after = { ...patched(document, patch), node_uuid: node.uuid }
    const values = readPatched(portFields, after, (name) => allowed.includes(name))
    const portgroup = touches(patch, '/portgroup_uuid') ? await portgroupAfter(call, values['portgroup_uuid']) : current
    if (node.provision_state === 'inspecting' && call.minor >= 39) {
      throw new ClientSideError(
        `Cannot update port "${port.uuid}" on "${node.uuid}" while it is in state "inspecting".`,
        { code: 409 },
      )
    }
    if (touches(patch, '/physical_network')) {
      if (values['physical_network'] === '')
        throw new Invalid('A non-empty value is required when setting physical_network')
      if (call.minor >= 102 && portgroup !== undefined) {
        throw new Invalid('physical_network cannot be changed while the port belongs to a portgroup.')
      }
    }
    const wanted: Members = { node_id: node.id, node_uuid: node.uuid, portgroup_id: portgroup?.id ?? null }
    for (const name of allowed)
      if (!['node_uuid', 'node_ident', 'portgroup_uuid'].includes(name)) wanted[name] = values[name] ?? null
    for (const [name, value] of Object.entries(defaults)) wanted[name] ??= value
    const changes = Object.keys(wanted).filter(
      (name) => !isDeepStrictEqual(wanted[name], port[name as keyof Port]),
    ) as (keyof Port)[]
    const conductor = await conductorOf(call, node)
    const data = { ...port, ...wanted }
    const change = () => conductor.update_port(call.context, { port_obj: { data, changes } })
    const updated = await announced(call, 'port.update', data, change, {
      node_uuid: node.uuid,
      portgroup_uuid: portgroup?.uuid ?? null,
    })
    return jsonText(await portText(call, updated))
  },
})

const deletePort = route({
  method: 'DELETE',
  path: '/v1/ports/:port',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:port:delete'],
  asks: 'handler',
  async handler(call) {
    const { port, node } = await visiblePort(call, 'baremetal:port:delete', Uuid.read('port_uuid', call.params['port']))
    if (node === undefined) throw new NodeNotFound({ node: port.node_uuid })
    const conductor = await conductorOf(call, node)
    const portgroup = port.portgroup_id === null ? undefined : await getPortgroupById(call.api.db, port.portgroup_id)
    const destroy = () => conductor.destroy_port(call.context, { port: { data: port, changes: [] } })
    await announced(call, 'port.delete', port, destroy, {
      node_uuid: node.uuid,
      portgroup_uuid: portgroup?.uuid ?? null,
    })
  },
})

export const portRoutes = [
  listPorts,
  listPortsDetail,
  ...portsOfNode,
  ...portsOfPortgroup,
  showPort,
  createPort,
  updatePort,
  deletePort,
]
