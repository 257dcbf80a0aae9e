import { randomUUID } from 'node:crypto'
import type { SelectQueryBuilder } from 'kysely'
import { InvalidParameterValue } from '../errors/base.ts'
import type { IronicError } from '../errors/define.ts'
import type { Codec, Row } from './codec.ts'
import type { Db } from './database.ts'
import { type Page, paged, sortColumn, type Start } from './paging.ts'
import type { TableName } from './schema/tables.ts'
import { duplicateColumns } from './violations.ts'

/** What the files of the tables have in common: one declaration says which row is meant and how its faults are called. */
export interface Entity<T> {
  readonly table: TableName
  readonly codec: Codec<T>
  notFound(ident: number | string): IronicError
  /** The fault of a broken unique constraint, by its columns. */
  conflict(columns: readonly string[], values: Partial<T>): IronicError
  /** its rows carry the uuid of their node as `node_uuid` */
  readonly ofNode?: boolean
}

// oxlint-disable-next-line typescript/no-explicit-any -- one shape for all tables
export type AnyQuery = SelectQueryBuilder<any, any, any>

export const source = ({ table, ofNode }: Entity<never>): string =>
  ofNode
    ? `select ${table}.*, nodes.uuid as node_uuid from ${table} left join nodes on nodes.id = ${table}.node_id`
    : `select ${table}.* from ${table}`

const erased = <T>(entity: Entity<T>) => entity as unknown as Entity<never>

/** The row where `column` has that value, or undefined. */
export async function findRow<T>(
  db: Db,
  entity: Entity<T>,
  column: string,
  value: number | string,
): Promise<T | undefined> {
  const [row] = await db.query<Row>(`${source(erased(entity))} where ${entity.table}.${column} = ?`, [value])
  return row === undefined ? undefined : entity.codec.decode(row)
}

/** The row where `column` has that value. @throws what the entity calls not found */
export async function getRow<T>(db: Db, entity: Entity<T>, column: string, value: number | string): Promise<T> {
  const found = await findRow(db, entity, column, value)
  if (found === undefined) throw entity.notFound(value)
  return found
}

/** Stores a new row, with a uuid of its own when it brings none. @throws the entity's conflicts */
export async function insertRow<T extends { uuid: string | null }>(
  db: Db,
  entity: Entity<T>,
  values: NoInfer<Partial<T>>,
): Promise<T> {
  const complete = { ...values, uuid: values.uuid ?? randomUUID() }
  try {
    await db.sql.insertInto(entity.table).values(entity.codec.forInsert(db, complete)).execute()
  } catch (error) {
    throw conflictOr(error, entity, complete as Partial<T>)
  }
  return await getRow(db, entity, 'uuid', complete.uuid)
}

/** The declared fault of a broken constraint, or the error itself. */
export function conflictOr<T>(error: unknown, entity: Entity<T>, values: Partial<T>): unknown {
  const columns = duplicateColumns(error)
  if (columns === undefined) return error
  const fault = entity.conflict(columns, values)
  fault.cause = error
  return fault
}

/** Changes the given fields of a row. @throws what the entity calls not found, its conflicts */
export async function updateRow<T>(
  db: Db,
  entity: Entity<T>,
  ident: number | string,
  values: NoInfer<Partial<T>>,
): Promise<T> {
  if ('uuid' in values)
    throw new InvalidParameterValue(`Cannot overwrite UUID for an existing ${entity.codec.object.name}.`)
  const column = typeof ident === 'number' ? 'id' : 'uuid'
  try {
    const { numUpdatedRows } = await db.sql
      .updateTable(entity.table)
      .set(entity.codec.forUpdate(db, values) as never)
      .where(column as never, '=', ident as never)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw entity.notFound(ident)
  } catch (error) {
    throw conflictOr(error, entity, values)
  }
  return await getRow(db, entity, column, ident)
}

/** @throws what the entity calls not found */
export async function deleteRow<T>(db: Db, entity: Entity<T>, ident: number | string): Promise<void> {
  const { numDeletedRows } = await db.sql
    .deleteFrom(entity.table)
    .where((typeof ident === 'number' ? 'id' : 'uuid') as never, '=', ident as never)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw entity.notFound(ident)
}

/**
 * A page of rows as the database has them.
 * @param where adds the conditions; the node of an entity `ofNode` is joined as `nodes`
 * @throws what the entity calls not found for the marker, InvalidParameterValue for the sort key
 */
export async function listRows<T>(
  db: Db,
  entity: Entity<T>,
  page: Page,
  where: (query: AnyQuery) => AnyQuery = (query) => query,
): Promise<Row[]> {
  const { table } = entity
  let start: Start | undefined
  if (page.marker !== undefined) {
    const column = sortColumn(table, page.sortKey)
    ;[start] = await db.query<Start>(`select id, "${column}" as value from ${table} where uuid = ?`, [page.marker])
    if (start === undefined) throw entity.notFound(page.marker)
  }
  let query = db.sql.selectFrom(table).selectAll(table) as unknown as AnyQuery
  if (entity.ofNode) query = query.leftJoin('nodes', 'nodes.id', `${table}.node_id`).select('nodes.uuid as node_uuid')
  return (await paged(where(query), table, page, start).execute()) as Row[]
}

/** Nodes of a project: it owns or leases them. For entities `ofNode`. */
export const ofProject = (query: AnyQuery, project: string): AnyQuery =>
  query.where((eb) => eb.or([eb('nodes.owner', '=', project), eb('nodes.lessee', '=', project)]))

/** What each filter of a list adds to its query. */
export type Conditions<F> = { readonly [K in keyof F]-?: (query: AnyQuery, value: NonNullable<F[K]>) => AnyQuery }

/** Adds the filters that are given. */
export const filtering =
  <F extends object>(conditions: Conditions<F>, filters: F) =>
  (query: AnyQuery): AnyQuery =>
    Object.entries(filters).reduce<AnyQuery>(
      (next, [name, value]) =>
        value === undefined || value === null
          ? next
          : (conditions[name as keyof F] as (query: AnyQuery, value: unknown) => AnyQuery)(next, value),
      query,
    )

/** The column is one of the values; none of none. */
export const within =
  (column: string) =>
  (query: AnyQuery, values: readonly unknown[]): AnyQuery =>
    values.length === 0 ? query.where((eb) => eb.val(0)) : query.where(column, 'in', values)

export const equals =
  (column: string) =>
  (query: AnyQuery, value: unknown): AnyQuery =>
    query.where(column, '=', typeof value === 'boolean' ? Number(value) : value)

/** The entity belongs to that node, told by its uuid. */
export const nodeUuidIs = equals('nodes.uuid')
