import type { Kysely } from 'kysely'
import type { JsonDict } from '../objects/versioned-object.ts'
import { encodeTime, jsonText, type Row } from './codec.ts'
import type { Db } from './database.ts'
import type { Tables } from './tables.ts'

/** The steps of deploy templates and of runbooks: rows of their own, in the order of their ids. */
export interface StepTable {
  readonly table: 'deploy_template_steps' | 'runbook_steps'
  readonly parent: 'deploy_template_id' | 'runbook_id'
  /** the number that orders the steps when they run */
  readonly rank: 'priority' | 'order'
}

export const deployTemplateSteps: StepTable = {
  table: 'deploy_template_steps',
  parent: 'deploy_template_id',
  rank: 'priority',
}
export const runbookSteps: StepTable = { table: 'runbook_steps', parent: 'runbook_id', rank: 'order' }

/** The steps of many parents in one query, by parent. */
export async function stepsOf(
  db: Db,
  { table, parent, rank }: StepTable,
  ids: readonly number[],
): Promise<Map<number, JsonDict[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query<Row>(
    `select ${parent} as parent, interface, step, args, "${rank}" from ${table} where ${parent} in (${ids.map(() => '?').join(',')}) order by id`,
    ids,
  )
  const byParent = Map.groupBy(rows, (row) => row['parent'] as number)
  return new Map(
    [...byParent].map(([id, steps]) => [
      id,
      steps.map((row) => ({
        interface: row['interface'],
        step: row['step'],
        args: JSON.parse(row['args'] as string) as JsonDict,
        [rank]: row[rank],
      })),
    ]),
  )
}

/** What makes two steps the same; sorts as real Ironic sorts them. */
const sameness = (rank: StepTable['rank']) => (step: JsonDict) =>
  JSON.stringify([step['interface'], step['step'], sorted(step['args'] ?? {}), Number(step[rank])])

const sorted = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, member]) => [key, sorted(member)])

/**
 * Makes these the steps of one parent, inside the caller's transaction. Rows of steps that stay are kept with their place;
 * new ones follow, after a change in the order of their keys as real Ironic stores them.
 */
export async function replaceSteps(
  db: Db,
  trx: Kysely<Tables>,
  { table, parent, rank }: StepTable,
  id: number,
  steps: readonly JsonDict[],
): Promise<void> {
  const key = sameness(rank)
  const existing = await trx
    .selectFrom(table)
    .selectAll()
    .where(parent as never, '=', id as never)
    .orderBy('id')
    .execute()
  const wanted = new Map(steps.map((step) => [key(step), step]))
  const gone = existing.filter((row) => !wanted.delete(key({ ...row, args: JSON.parse(row.args ?? '{}') as JsonDict })))
  if (gone.length > 0) {
    await trx
      .deleteFrom(table)
      .where(
        'id',
        'in',
        gone.map((row) => row.id),
      )
      .execute()
  }
  if (wanted.size === 0) return
  const added = [...wanted]
  if (existing.length > 0) added.sort(([a], [b]) => (a < b ? -1 : 1))
  const created_at = encodeTime(db.now(), db.dialect)
  const rows = added.map(([, step]) => ({
    [parent]: id,
    interface: step['interface'],
    step: step['step'],
    args: jsonText(step['args'] ?? {}),
    [rank]: Number(step[rank]),
    created_at,
  }))
  await trx.insertInto(table).values(rows).execute()
}
