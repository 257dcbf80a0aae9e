import { randomUUID } from 'node:crypto'
import { getNode, getNodeById } from '../../../db/nodes.ts'
import { InvalidParameterValue, NotAuthorized } from '../../../errors/base.ts'
import { InvalidInput, InvalidUUID, MalformedRequestURI } from '../../../errors/general.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, PatchBody, patched, patchedFields, patchValues, readPatched, updatable } from '../../bodies.ts'
import { linksOf, resourceUrl } from '../../links.ts'
import { fieldArgs, listReply, pageArgs, pageOf, shownFields, type PageArgs } from '../../listing.ts'
import { projectOfList } from '../../project-lists.ts'
import { jsonText, optional, route, type AnyCall, type Reply, type Route } from '../../resource.ts'
import { Flag, Uuid, UuidOrName } from '../../values.ts'
import { rowOf } from '../../view.ts'
import { conductorOf } from '../nodes/conductor-of.ts'
import { linkableNode } from '../nodes/rules.ts'
import { nodeTarget } from '../nodes/view.ts'
import { connectorKind, targetKind, type VolumeKind } from './kinds.ts'

const versions = { since: 32, outside: 'routing 404' } as const

/** Links to the two lists; below a node they are the lists of that node. */
function rootText({ url, params }: AnyCall): Reply {
  const node = params['node']
  const [resource, path] = node === undefined ? ['volume', ''] : ['nodes', `${node}/volume/`]
  return jsonText(
    JSON.stringify({
      links: linksOf(url, resource, path),
      connectors: linksOf(url, resource, `${path}connectors`),
      targets: linksOf(url, resource, `${path}targets`),
    }),
  )
}

const roots = ['/v1/volume', '/v1/nodes/:node/volume'].map((path) =>
  route({ method: 'GET', path, since: 32, policy: 'baremetal:volume:get', handler: rootText }),
)

/** A node by its uuid alone; who may not see it is told that it does not exist. @throws NodeNotFound */
async function nodeByUuid(call: AnyCall, uuid: string): Promise<Node> {
  if (!isUuidLike(uuid)) throw new NodeNotFound({ node: uuid })
  const node = await getNode(call.api.db, uuid)
  try {
    call.api.policy.authorize(call.context, 'baremetal:node:get', nodeTarget(node))
  } catch (cause) {
    if (!(cause instanceof NotAuthorized)) throw cause
    throw new NodeNotFound({ node: uuid }, { cause })
  }
  return node
}

const nothing = { owner: null, lessee: null }

type VolumeObject = { id: number; uuid: string | null; node_id: number | null } & Record<string, unknown>

interface ListArgs extends PageArgs {
  readonly fields: readonly string[] | undefined
  readonly detail: boolean | undefined
  readonly node?: string | undefined
}

/** Routes of one kind. */
function routesOf<T extends VolumeObject>(kind: VolumeKind<T>): Route[] {
  const { name, fields, view } = kind
  const path = `/v1/volume/${name}`
  const nested = `/v1/nodes/:node/volume/${name}`
  const resource = `volume/${name}`
  const allowed = updatable(fields)

  const context = (call: AnyCall) => ({
    url: call.url,
    // who creates a target knows its properties
    showProperties:
      call.method === 'POST' || call.api.policy.allows(call.context, 'baremetal:volume:view_target_properties'),
  })
  const shown = (call: AnyCall, volume: T, node: Node | undefined, names: readonly string[] | null = null): string =>
    view.writer(call.minor, names)({ ...rowOf(volume), node_uuid: node?.uuid ?? null }, context(call))

  /** The thing of the path and its node: 404 for who may not see the node, 403 for who may not do what is asked. */
  async function authorized(call: AnyCall, rule: string): Promise<{ volume: T; node: Node | undefined }> {
    const ident = Uuid.read(`${name.slice(0, -1)}_uuid`, call.params['volume'])
    const volume = await kind.get(call.api.db, ident)
    const node = volume.node_id === null ? undefined : await getNodeById(call.api.db, volume.node_id)
    const target = nodeTarget(node ?? nothing)
    if (!call.api.policy.allows(call.context, 'baremetal:node:get', target)) throw kind.missing(ident)
    call.api.policy.authorize(call.context, rule, target)
    return { volume, node }
  }

  async function list(call: AnyCall, args: ListArgs, listPath: string): Promise<Reply> {
    const parent = call.params['node'] === undefined ? undefined : await nodeByUuid(call, call.params['node'])
    const project = projectOfList(call, 'volume')
    if (args.fields !== undefined && args.detail === true) {
      throw new InvalidParameterValue('Ask either for fields or for detail.')
    }
    const page = pageOf(args, call.api.config, kind.unsortable)
    view.check(args.fields, call.minor)
    const node = parent ?? (args.node === undefined ? undefined : await getNode(call.api.db, args.node))
    const rows = await kind.rows(call.api.db, {
      ...page,
      filters: { ...(node === undefined ? {} : { node_id: node.id }), ...(project === undefined ? {} : { project }) },
    })
    return listReply(call, {
      name,
      rows,
      view,
      context: context(call),
      shown: shownFields(args, view.listed),
      path: listPath,
      page,
      parameters: { detail: args.detail, node: args.node },
    })
  }

  const listArgs = { ...pageArgs, ...fieldArgs, detail: optional(Flag) }
  const listPolicy = ['baremetal:volume:list_all', 'baremetal:volume:list']

  const listAll = route({
    method: 'GET',
    path,
    ...versions,
    policy: listPolicy,
    asks: 'handler',
    args: { ...listArgs, node: optional(UuidOrName) },
    handler: (call) => list(call, call.args, resource),
  })

  const listOfNode = route({
    method: 'GET',
    path: nested,
    ...versions,
    policy: ['baremetal:node:get', ...listPolicy],
    asks: 'handler',
    args: listArgs,
    handler: (call) => list(call, call.args, `nodes/${call.params['node']}/${resource}`),
  })

  const show = route({
    method: 'GET',
    path: `${path}/:volume`,
    ...versions,
    policy: ['baremetal:node:get', 'baremetal:volume:get'],
    asks: 'handler',
    args: fieldArgs,
    async handler(call) {
      const { volume, node } = await authorized(call, 'baremetal:volume:get')
      view.check(call.args.fields, call.minor)
      return jsonText(shown(call, volume, node, call.args.fields ?? null))
    },
  })

  /** The node that a new thing shall belong to. Who may create nowhere never learns whether the node is there. */
  async function nodeForCreate(call: AnyCall, uuid: string): Promise<Node> {
    let node: Node | undefined
    try {
      node = await nodeByUuid(call, uuid)
    } catch (error) {
      if (!(error instanceof NodeNotFound)) throw error
    }
    call.api.policy.authorize(call.context, 'baremetal:volume:create', nodeTarget(node ?? nothing))
    if (node === undefined) throw new InvalidInput(`The node ${uuid} of node_uuid does not exist.`)
    return node
  }

  const create = route({
    method: 'POST',
    path,
    ...versions,
    status: 201,
    policy: ['baremetal:node:get', 'baremetal:volume:create'],
    asks: 'handler',
    body: createBody(fields),
    fields,
    async handler(call) {
      const { node_uuid, ...values } = call.body
      const node = await nodeForCreate(call, String(node_uuid))
      const uuid = (values['uuid'] as string | null | undefined) ?? randomUUID()
      const wanted = { ...values, uuid, node_id: node.id }
      const make = () => kind.create(call.api.db, wanted as unknown as Partial<T>)
      const volume = await announced(call, `${kind.event}.create`, wanted, make, { node_uuid: node.uuid })
      return jsonText(shown(call, volume, node), { location: resourceUrl(call.url, resource, uuid) })
    },
  })

  const update = route({
    method: 'PATCH',
    path: `${path}/:volume`,
    ...versions,
    policy: ['baremetal:node:get', 'baremetal:volume:update'],
    asks: 'handler',
    body: PatchBody,
    async handler(call) {
      const { volume, node } = await authorized(call, 'baremetal:volume:update')
      patchedFields(call.body, allowed, call.minor)
      const wanted = patchValues(call.body, '/node_uuid')
      const wrong = wanted.find((value) => !isUuidLike(value))
      if (wrong !== undefined) throw new InvalidUUID({ uuid: String(wrong).slice(0, 64) })
      const target = wanted[0] === undefined ? node : await linkableNode(call, node?.owner, wanted[0], 'node_uuid')
      if (target === undefined) throw new NodeNotFound({ node: volume.node_id })
      const document = { ...patched({ ...volume, node_uuid: null }, call.body), node_uuid: target.uuid }
      const after = readPatched(fields, document, (field) => allowed.includes(field))
      const values = { ...emptied(allowed), ...after, node_id: target.id } as unknown as Partial<T>
      const changes = Object.keys(values).filter((key) => isChanged(volume, values, key)) as (keyof T & string)[]
      const conductor = await conductorOf(call, target)
      const result = { ...volume, ...pick(values, changes) }
      const change = () => kind.update(conductor, call.context, result, changes)
      const changed = await announced(call, `${kind.event}.update`, result, change, { node_uuid: target.uuid })
      return jsonText(shown(call, changed, target))
    },
  })

  const remove = route({
    method: 'DELETE',
    path: `${path}/:volume`,
    ...versions,
    status: 204,
    policy: ['baremetal:node:get', 'baremetal:volume:delete'],
    asks: 'handler',
    async handler(call) {
      const { volume, node } = await authorized(call, 'baremetal:volume:delete')
      if (node === undefined) throw new NodeNotFound({ node: volume.node_id })
      const conductor = await conductorOf(call, node)
      const destroy = () => kind.destroy(conductor, call.context, volume)
      await announced(call, `${kind.event}.delete`, volume, destroy, { node_uuid: node.uuid })
    },
  })

  /** Below a node there are only the lists; a single thing has its own path. */
  const misplaced = (['GET', 'PATCH', 'DELETE'] as const).map((method) => {
    const rule = { GET: 'get', PATCH: 'update', DELETE: 'delete' }[method]
    return route({
      method,
      path: `${nested}/:volume`,
      ...versions,
      policy: ['baremetal:node:get', `baremetal:volume:${rule}`],
      asks: 'handler',
      lenient: true,
      async handler(call) {
        await authorized(call, `baremetal:volume:${rule}`)
        throw new MalformedRequestURI(`Use ${path}/<uuid> for a single one.`)
      },
    })
  })
  const misplacedCreate = route({
    method: 'POST',
    path: nested,
    ...versions,
    policy: ['baremetal:node:get', 'baremetal:volume:create'],
    asks: 'handler',
    body: createBody(fields),
    async handler(call) {
      await nodeForCreate(call, String(call.body['node_uuid']))
      throw new MalformedRequestURI(`Create it by POST ${path}.`)
    },
  })

  return [listAll, listOfNode, show, create, update, remove, ...misplaced, misplacedCreate]
}

/** A field that the patch removed is emptied. */
const emptied = (names: readonly string[]): Record<string, null> =>
  Object.fromEntries(names.filter((name) => name !== 'node_uuid').map((name) => [name, null]))

const isChanged = (before: object, after: object, key: string): boolean =>
  key in before &&
  JSON.stringify((before as Record<string, unknown>)[key] ?? null) !==
    JSON.stringify((after as Record<string, unknown>)[key] ?? null)

const pick = <T extends object>(values: T, keys: readonly (keyof T)[]): Partial<T> =>
  Object.fromEntries(keys.map((key) => [key, values[key]])) as Partial<T>

export const volumeRoutes: readonly Route[] = [...roots, ...routesOf(connectorKind), ...routesOf(targetKind)]
