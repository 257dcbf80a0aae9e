import { type ExpressionBuilder, type ExpressionWrapper, type SelectQueryBuilder, sql, type SqlBool } from 'kysely'
import type { Db } from './database.ts'
import { encodeTime } from './codec.ts'
import type { Tables } from './tables.ts'

/** Conditions of a list of nodes; the names are those of real Ironic's database API. Absent: no condition; null: the column is NULL. */
export interface NodeFilters {
  readonly id?: number
  readonly uuid?: string
  readonly uuid_in?: readonly string[]
  readonly name_in?: readonly string[]
  readonly driver?: string | null
  readonly resource_class?: string | null
  readonly provision_state?: string | null
  readonly provision_state_in?: readonly (string | null)[]
  readonly fault?: string | null
  readonly conductor_group?: string
  /** an addition: several groups at once */
  readonly conductor_group_in?: readonly string[]
  readonly owner?: string | null
  readonly lessee?: string | null
  /** owner or lessee */
  readonly project?: string
  readonly instance_uuid?: string | null
  readonly instance_name?: string | null
  readonly console_enabled?: boolean
  readonly maintenance?: boolean
  readonly retired?: boolean
  /** has an instance_uuid */
  readonly associated?: boolean
  /** is locked */
  readonly reserved?: boolean
  /** locked by one of these hosts */
  readonly reserved_by_any_of?: readonly string[]
  readonly with_power_state?: boolean
  readonly sharded?: boolean
  readonly shard_in?: readonly string[]
  readonly chassis_uuid?: string
  readonly chassis_id?: number
  /** the last conductor that prepared it */
  readonly conductor_affinity?: number | null
  /** provision_updated_at is older than so many seconds */
  readonly provisioned_before?: number
  readonly inspection_started_before?: number
  readonly description_contains?: string
  /** uuid of the parent */
  readonly parent_node?: string
  /** children too; without it (and without `parent_node`) only nodes without a parent */
  readonly include_children?: boolean
}

type NodeColumn = keyof Tables['nodes']
type Conditions = ExpressionBuilder<Tables, 'nodes'>
type Condition = ExpressionWrapper<Tables, 'nodes', SqlBool>

const equal = (column: NodeColumn) => (eb: Conditions, value: unknown) => {
  const reference = `nodes.${column}` as const
  if (value === null) return eb(reference, 'is', null)
  return eb(reference, '=', (typeof value === 'boolean' ? Number(value) : value) as never)
}

const oneOf = (column: NodeColumn) => (eb: Conditions, values: readonly (string | null)[]) => {
  const reference = `nodes.${column}` as const
  const present = values.filter((each) => each !== null)
  const conditions: Condition[] = []
  if (present.length > 0) conditions.push(eb(reference, 'in', present as never))
  if (present.length < values.length) conditions.push(eb(reference, 'is', null))
  return conditions.length === 0 ? eb.val(0) : eb.or(conditions)
}

const present = (column: NodeColumn) => (eb: Conditions, value: boolean) =>
  eb(`nodes.${column}`, value ? 'is not' : 'is', null)

const olderThan =
  (column: 'provision_updated_at' | 'inspection_started_at') => (eb: Conditions, seconds: number, db: Db) =>
    eb(`nodes.${column}`, '<', encodeTime(new Date(db.now().getTime() - seconds * 1000), db.dialect))

/** Every filter, and the condition that it makes. */
const conditions: {
  [F in keyof NodeFilters]-?: (eb: Conditions, value: NonNullable<NodeFilters[F]>, db: Db) => unknown
} = {
  id: equal('id'),
  uuid: equal('uuid'),
  uuid_in: oneOf('uuid'),
  name_in: oneOf('name'),
  driver: equal('driver'),
  resource_class: equal('resource_class'),
  provision_state: equal('provision_state'),
  provision_state_in: oneOf('provision_state'),
  fault: equal('fault'),
  conductor_group: equal('conductor_group'),
  conductor_group_in: oneOf('conductor_group'),
  owner: equal('owner'),
  lessee: equal('lessee'),
  project: (eb, project) => eb.or([eb('nodes.owner', '=', project), eb('nodes.lessee', '=', project)]),
  instance_uuid: equal('instance_uuid'),
  instance_name: equal('instance_name'),
  console_enabled: equal('console_enabled'),
  maintenance: equal('maintenance'),
  retired: equal('retired'),
  associated: present('instance_uuid'),
  reserved: present('reservation'),
  reserved_by_any_of: oneOf('reservation'),
  with_power_state: present('power_state'),
  sharded: present('shard'),
  shard_in: oneOf('shard'),
  chassis_uuid: (eb, uuid) =>
    eb('nodes.chassis_id', 'in', eb.selectFrom('chassis').select('chassis.id').where('chassis.uuid', '=', uuid)),
  chassis_id: equal('chassis_id'),
  conductor_affinity: equal('conductor_affinity'),
  provisioned_before: olderThan('provision_updated_at'),
  inspection_started_before: olderThan('inspection_started_at'),
  description_contains: (eb, part) => eb('nodes.description', 'like', `%${part}%`),
  parent_node: equal('parent_node'),
  include_children: (eb) => eb.val(1),
}

/** Adds the filters to a query of `nodes`. */
export function filtered<O>(
  query: SelectQueryBuilder<Tables, 'nodes', O>,
  filters: NodeFilters,
  db: Db,
): SelectQueryBuilder<Tables, 'nodes', O> {
  let next = query
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined || name === 'include_children' || name === 'parent_node') continue
    const condition = conditions[name as keyof NodeFilters] as (eb: Conditions, value: unknown, db: Db) => Condition
    next = next.where((eb) => condition(eb, value, db))
  }
  if (filters.include_children) return next
  const parent = filters.parent_node
  if (parent !== undefined) return next.where((eb) => equal('parent_node')(eb, parent))
  // nearly every node has no parent: a comparison that no index serves, so that the index of the sort key is walked instead
  return next.where(
    db.dialect === 'sqlite'
      ? sql<boolean>`+nodes.parent_node is null`
      : sql<boolean>`(nodes.parent_node is null) + 0 = 1`,
  )
}
