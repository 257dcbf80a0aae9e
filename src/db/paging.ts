import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely'
import { InvalidParameterValue } from '../errors/base.ts'
import { type TableName, tables } from './schema/tables.ts'

/** A page of a list. Without a limit: everything. */
export interface Page {
  readonly limit?: number | undefined
  /** uuid of the last item of the page before */
  readonly marker?: string | undefined
  readonly sortKey?: string | undefined
  readonly sortDir?: 'asc' | 'desc' | undefined
}

/** Where a page starts: the id of the marker and its value of the sort key, as the database has it. */
export interface Start {
  readonly id: number
  readonly value: unknown
}

/** The column to sort by. @throws InvalidParameterValue */
export function sortColumn(table: TableName, sortKey: string | undefined): string {
  const column = sortKey ?? 'id'
  if (!Object.hasOwn(tables[table].columns, column))
    throw new InvalidParameterValue(`The sort_key value "${column}" is an invalid field for sorting.`)
  return column
}

// oxlint-disable-next-line typescript/no-explicit-any -- every table pages alike
type AnyQuery = SelectQueryBuilder<any, any, any>

/**
 * Orders by the sort key and then by id, and goes on after the marker. NULL sorts lowest in both databases.
 * The conditions are ranges of one index, so a page costs the same wherever it starts.
 */
export function paged<Q extends AnyQuery>(query: Q, table: TableName, page: Page, start?: Start): Q {
  const column = sortColumn(table, page.sortKey)
  const direction = page.sortDir ?? 'asc'
  const key = `${table}.${column}`
  const id = `${table}.id`
  let next: AnyQuery = query
  const unique = endsTies(table, column, direction, start)
  if (start !== undefined) next = next.where((eb) => after(eb, { key, id, direction, unique }, start))
  if (column !== 'id') next = next.orderBy(key, direction)
  if (!unique) next = next.orderBy(id, direction)
  if (page.limit !== undefined) next = next.limit(Math.trunc(page.limit))
  return next as Q
}

/**
 * Whether the sort key alone orders what is left: it is unique, and there is no NULL among it. Then MariaDB can walk its index, which it
 * cannot for an order by a unique key and the id.
 */
function endsTies(table: TableName, column: string, direction: 'asc' | 'desc', start: Start | undefined): boolean {
  if (column === 'id') return false
  const isUnique = Object.values(tables[table].unique).some((key) => key.length === 1 && key[0] === column)
  if (!isUnique) return false
  const startsAfterNull = direction === 'asc' && start?.value !== undefined && start.value !== null
  return column === 'uuid' || startsAfterNull
}

interface Order {
  readonly key: string
  readonly id: string
  readonly direction: 'asc' | 'desc'
  readonly unique: boolean
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function after(eb: ExpressionBuilder<any, any>, { key, id, direction, unique }: Order, start: Start) {
  const beyond = direction === 'asc' ? '>' : '<'
  const sameThenId = eb(id, beyond, start.id)
  if (key === id) return sameThenId
  if (unique) return eb(key, beyond, start.value)
  if (start.value === null || start.value === undefined)
    return direction === 'asc'
      ? eb.or([eb(key, 'is not', null), sameThenId])
      : eb.and([eb(key, 'is', null), sameThenId])
  const ties = eb.or([eb(key, beyond, start.value), sameThenId])
  if (direction === 'asc') return eb.and([eb(key, '>=', start.value), ties])
  return eb.or([eb.and([eb(key, '<=', start.value), ties]), eb(key, 'is', null)])
}
