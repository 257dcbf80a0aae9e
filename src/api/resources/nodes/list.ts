import { getChassis } from '../../../db/chassis.ts'
import { listNodeRows, type NodeFilters } from '../../../db/nodes.ts'
import { provisionStates } from '../../../domain/machine.ts'
import { faults } from '../../../domain/states.ts'
import { ClientSideError, HTTPForbidden, InvalidParameterValue, NotAcceptable } from '../../../errors/base.ts'
import type { Node } from '../../../objects/index.ts'
import { collectionOnly } from '../../collection-only.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import { isOpen, optional, route, type AnyCall, type ArgumentsOf, type Reply } from '../../resource.ts'
import { checked, Flag, Text, TextList, Uuid } from '../../values.ts'
import { linkedFields, nodeFields, unsortableFields } from './fields.ts'
import { hostOf, nodeView, nodeViewContext } from './view.ts'

const KnownState = checked(Text, (state) => {
  if (!Object.hasOwn(provisionStates, state)) {
    throw new InvalidParameterValue(`Provision state "${state.slice(0, 64)}" is not valid`)
  }
  return state
})
const KnownFault = checked(Text, (fault) => {
  const known: readonly string[] = Object.values(faults)
  if (!known.includes(fault)) {
    throw new ClientSideError(`Unrecognized fault "${fault.slice(0, 64)}", allowed faults are ${known.join(', ')}`)
  }
  return fault
})

/** Filters of a list of nodes. Some were never bound to a version. */
const filterArgs = {
  chassis_uuid: optional(Uuid),
  instance_uuid: optional(Uuid),
  associated: optional(Flag),
  maintenance: optional(Flag),
  retired: optional(Flag),
  provision_state: optional(KnownState, { since: 9 }),
  driver: optional(Text, { since: 16 }),
  resource_class: optional(Text, { since: 21 }),
  fault: optional(KnownFault, { since: 42 }),
  conductor_group: optional(Text, { since: 46 }),
  conductor: optional(Text, { since: 49 }),
  owner: optional(Text, { since: 50 }),
  lessee: optional(Text, { since: 65 }),
  project: optional(Text),
  description_contains: optional(Text),
  shard: optional(TextList, { since: 82 }),
  sharded: optional(Flag, { since: 82 }),
  instance_name: optional(Text, { since: 104 }),
}
const childArgs = {
  include_children: optional(Flag, { since: 83 }),
  parent_node: optional(Text, { since: 83 }),
}
/** The detailed list takes these in every version. */
const childArgsOfDetail = { include_children: optional(Flag), parent_node: optional(Text) }

type Filters = ArgumentsOf<typeof filterArgs> & ArgumentsOf<typeof childArgs>
type ListArgs = Filters & ArgumentsOf<typeof pageArgs>

/**
 * The project whose nodes the caller may list; undefined: all.
 * @throws HTTPForbidden
 */
export function listedProject({ api: { policy }, context }: AnyCall, wanted?: string): string | undefined {
  try {
    policy.authorize(context, 'baremetal:node:list_all')
    return wanted
  } catch (error) {
    const own = context.project_id
    if (!(error instanceof HTTPForbidden) || !own || (wanted !== undefined && wanted !== own)) throw error
    policy.authorize(context, 'baremetal:node:list')
    return own
  }
}

const defined = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>

function filtersOf({ shard, conductor: _conductor, ...plain }: Filters, project: string | undefined): NodeFilters {
  return defined({ ...plain, shard_in: shard, project }) as NodeFilters
}

/** Columns that a view of these fields reads, beside those that rules and links need. */
const columnsOf = (minor: number, shown: readonly string[] | null, conductor: string | undefined) => {
  if (shown === null) return undefined
  const more = ['owner', 'lessee', ...(conductor === undefined ? [] : ['driver', 'conductor_group'])]
  return [...nodeView.columns(minor, shown), ...more] as (keyof Node)[]
}

async function list(
  call: AnyCall,
  args: ListArgs,
  shown: readonly string[] | null,
  path: string,
  extra: { readonly detail?: boolean | undefined; readonly chassis?: string } = {},
): Promise<Reply> {
  const { sort_key: sortKey } = args
  const sortField =
    sortKey !== undefined && Object.hasOwn(nodeFields, sortKey)
      ? nodeFields[sortKey as keyof typeof nodeFields]
      : undefined
  if (sortField !== undefined && !isOpen(sortField, call.minor)) {
    throw new NotAcceptable(`Sorting by ${sortKey} needs API version 1.${sortField.since} or newer.`)
  }
  const project = listedProject(call, args.project)
  const page = pageOf(args, call.api.config, unsortableFields)
  if (args.chassis_uuid !== undefined) await getChassis(call.api.db, args.chassis_uuid)
  const { marker: _marker, limit: _limit, sort_key: _key, sort_dir: _dir, ...filters } = args
  const chassisFilter = extra.chassis === undefined ? {} : { chassis_uuid: extra.chassis }
  let rows = await listNodeRows(call.api.db, {
    ...page,
    filters: filtersOf({ ...filters, ...chassisFilter }, project),
    fields: columnsOf(call.minor, shown, filters.conductor),
  })
  const full = rows.length === page.limit
  const last = rows.at(-1)
  if (filters.conductor !== undefined) {
    const hosts = await Promise.all(rows.map((row) => hostOf(call, row as unknown as Node)))
    rows = rows.filter((_row, index) => hosts[index] === filters.conductor)
  }
  const context = await nodeViewContext(call, rows, shown, false)
  return listReply(call, {
    name: 'nodes',
    rows,
    view: nodeView,
    context,
    shown,
    path,
    page,
    parameters: { ...filters, detail: extra.detail },
    // an instance has one node at most
    whole: args.instance_uuid !== undefined,
    ...(full && last !== undefined ? { last } : {}),
  })
}

/** Fields that come from other tables cannot be chosen one by one in a list. */
function checkListFields(fields: readonly string[] | undefined, minor: number): void {
  nodeView.check(fields, minor)
  const linked = fields?.find((name) => linkedFields.includes(name))
  if (linked !== undefined) {
    throw new InvalidParameterValue(
      `A list cannot be asked for the field ${linked} alone; ask with detail=true, or for a single node.`,
    )
  }
}

const listNodes = route({
  method: 'GET',
  path: '/v1/nodes',
  answer: listAnswer('nodes', nodeView),
  policy: ['baremetal:node:list_all', 'baremetal:node:list'],
  asks: 'handler',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, ...filterArgs, ...childArgs },
  handler(call) {
    const { fields, detail, ...args } = call.args
    checkListFields(fields, call.minor)
    return list(call, args, shownFields(call.args, nodeView.listed), 'nodes', { detail })
  },
})

const listNodesDetail = route({
  method: 'GET',
  path: '/v1/nodes/detail',
  answer: listAnswer('nodes', nodeView),
  action: true,
  policy: ['baremetal:node:list_all', 'baremetal:node:list'],
  asks: 'handler',
  args: { ...pageArgs, ...filterArgs, ...childArgsOfDetail },
  handler: (call) => list(call, call.args, null, 'nodes/detail'),
})

/** @throws ChassisNotFound */
async function chassisOf(call: AnyCall): Promise<string> {
  const uuid = Uuid.read('chassis_uuid', call.params['chassis'])
  await getChassis(call.api.db, uuid)
  return uuid
}

const listNodesOfChassis = route({
  method: 'GET',
  path: '/v1/chassis/:chassis/nodes',
  answer: listAnswer('nodes', nodeView),
  policy: ['baremetal:node:list_all', 'baremetal:node:list'],
  asks: 'handler',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, ...filterArgs, ...childArgs },
  async handler(call) {
    const { fields, detail, ...args } = call.args
    checkListFields(fields, call.minor)
    const chassis = await chassisOf(call)
    return list(call, args, shownFields(call.args, nodeView.listed), `chassis/${chassis}/nodes`, { detail, chassis })
  },
})

const listNodesOfChassisDetail = route({
  method: 'GET',
  path: '/v1/chassis/:chassis/nodes/detail',
  answer: listAnswer('nodes', nodeView),
  policy: ['baremetal:node:list_all', 'baremetal:node:list'],
  asks: 'handler',
  args: { ...pageArgs, ...filterArgs, ...childArgsOfDetail },
  async handler(call) {
    const chassis = await chassisOf(call)
    return list(call, call.args, null, `chassis/${chassis}/nodes/detail`, { chassis })
  },
})

export const nodeListRoutes = [
  listNodes,
  listNodesDetail,
  listNodesOfChassis,
  listNodesOfChassisDetail,
  ...collectionOnly('/v1/chassis/:chassis/nodes'),
]
