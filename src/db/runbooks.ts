import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { InvalidParameterValue } from '../errors/base.ts'
import { RunbookAlreadyExists, RunbookDuplicateName, RunbookNotFound, RunbookTraitNotFound } from '../errors/runbook.ts'
import { RunbookObject, type Runbook } from '../objects/runbook.ts'
import { RunbookTraitObject } from '../objects/runbook-trait.ts'
import { codec, encodeTime, type Row, rowVersion } from './codec.ts'
import type { Db } from './database.ts'
import { isUuid } from './identity.ts'
import type { Page } from './paging.ts'
import { type Conditions, conflictOr, type Entity, equals, filtering, listRows, within } from './rows.ts'
import { replaceSteps, runbookSteps, stepsOf } from './step-rows.ts'
import type { Tables } from './tables.ts'
import { duplicateColumns } from './violations.ts'

export type RunbookValues = Partial<Omit<Runbook, 'id' | 'created_at' | 'updated_at'>>

export const runbookCodec = codec<Runbook>(RunbookObject, 'runbooks', { disable_ramdisk: 0, public: 0 })

const runbooks: Entity<Runbook> = {
  table: 'runbooks',
  codec: runbookCodec,
  notFound: (runbook) => new RunbookNotFound({ runbook }),
  conflict: (columns, { name, uuid }) =>
    columns.includes('name') ? new RunbookDuplicateName({ name }) : new RunbookAlreadyExists({ uuid }),
}

async function traitsOf(db: Db, ids: readonly number[]): Promise<Map<number, string[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query<{ runbook_id: number; trait: string }>(
    `select runbook_id, trait from runbook_traits where runbook_id in (${ids.map(() => '?').join(',')}) order by runbook_id, trait`,
    ids,
  )
  return new Map(
    [...Map.groupBy(rows, (row) => row.runbook_id)].map(([id, group]) => [id, group.map((each) => each.trait)]),
  )
}

async function complete(db: Db, rows: readonly Row[]): Promise<Runbook[]> {
  const found = rows.map(runbookCodec.decode)
  const ids = found.map((each) => each.id)
  const steps = await stepsOf(db, runbookSteps, ids)
  const traits = await traitsOf(db, ids)
  for (const each of found) {
    each.steps = steps.get(each.id) ?? []
    each.traits = traits.get(each.id) ?? []
  }
  return found
}

async function one(db: Db, column: 'id' | 'uuid' | 'name', value: number | string): Promise<Runbook> {
  const rows = await db.query<Row>(`select * from runbooks where ${column} = ?`, [value])
  const [runbook] = await complete(db, rows)
  if (runbook === undefined) throw runbooks.notFound(value)
  return runbook
}

/** By uuid or name. @throws RunbookNotFound */
export const getRunbook = (db: Db, ident: string): Promise<Runbook> => one(db, isUuid(ident) ? 'uuid' : 'name', ident)

/** @throws RunbookNotFound */
export const getRunbookById = (db: Db, id: number): Promise<Runbook> => one(db, 'id', id)

async function addTraits(db: Db, trx: Kysely<Tables>, id: number, traits: readonly string[]): Promise<void> {
  const names = [...new Set(traits)]
  if (names.length === 0) return
  const created_at = encodeTime(db.now(), db.dialect)
  const version = rowVersion(RunbookTraitObject, db)
  await trx
    .insertInto('runbook_traits')
    .values(names.map((trait) => ({ runbook_id: id, trait, version, created_at, updated_at: null })))
    .execute()
}

/** @throws RunbookDuplicateName @throws RunbookAlreadyExists */
export async function createRunbook(db: Db, values: RunbookValues): Promise<Runbook> {
  const full = { ...values, uuid: values.uuid ?? randomUUID() }
  try {
    await db.transaction(async (trx) => {
      await trx
        .insertInto('runbooks')
        .values(runbookCodec.forInsert(db, full) as never)
        .execute()
      const { id } = await trx
        .selectFrom('runbooks')
        .select('id')
        .where('uuid', '=', full.uuid)
        .executeTakeFirstOrThrow()
      await replaceSteps(db, trx, runbookSteps, id, values.steps ?? [])
      await addTraits(db, trx, id, values.traits ?? [])
    })
  } catch (error) {
    throw conflictOr(error, runbooks, full)
  }
  return await one(db, 'uuid', full.uuid)
}

/** Steps, when given, replace all steps; traits have functions of their own. @throws RunbookNotFound @throws RunbookDuplicateName */
export async function updateRunbook(
  db: Db,
  ident: number | string,
  values: Omit<RunbookValues, 'traits'>,
): Promise<Runbook> {
  if ('uuid' in values) throw new InvalidParameterValue('Cannot overwrite UUID for an existing runbook.')
  const column = typeof ident === 'number' ? 'id' : 'uuid'
  try {
    await db.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('runbooks')
        .set(runbookCodec.forUpdate(db, values) as never)
        .where(column, '=', ident as never)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw runbooks.notFound(ident)
      if (values.steps === undefined) return
      const { id } = await trx
        .selectFrom('runbooks')
        .select('id')
        .where(column, '=', ident as never)
        .executeTakeFirstOrThrow()
      await replaceSteps(db, trx, runbookSteps, id, values.steps)
    })
  } catch (error) {
    throw conflictOr(error, runbooks, values)
  }
  return await one(db, column, ident)
}

/** @throws RunbookNotFound */
export async function destroyRunbook(db: Db, ident: number | string): Promise<void> {
  const { id } = typeof ident === 'number' ? { id: ident } : await getRunbook(db, ident)
  await db.transaction(async (trx) => {
    await trx.deleteFrom('runbook_steps').where('runbook_id', '=', id).execute()
    await trx.deleteFrom('runbook_traits').where('runbook_id', '=', id).execute()
    const { numDeletedRows } = await trx.deleteFrom('runbooks').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw runbooks.notFound(ident)
  })
}

export interface RunbookFilters {
  readonly owner?: string
  readonly public?: boolean
  readonly disable_ramdisk?: boolean
  /** what a project sees: its own and the public ones */
  readonly project?: string
  readonly name_in?: readonly string[]
  readonly uuid_in?: readonly string[]
  readonly id_in?: readonly number[]
}

const conditions: Conditions<RunbookFilters> = {
  owner: equals('runbooks.owner'),
  public: equals('runbooks.public'),
  disable_ramdisk: equals('runbooks.disable_ramdisk'),
  project: (query, project) =>
    query.where((eb) => eb.or([eb('runbooks.owner', '=', project), eb('runbooks.public', '=', 1)])),
  name_in: within('runbooks.name'),
  uuid_in: within('runbooks.uuid'),
  id_in: within('runbooks.id'),
}

export interface RunbookList extends Page {
  readonly filters?: RunbookFilters
}

/** @throws RunbookNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listRunbooks = async (db: Db, { filters = {}, ...page }: RunbookList = {}): Promise<Runbook[]> =>
  await complete(db, await listRows(db, runbooks, page, filtering(conditions, filters)))

async function mustExist(db: Db, id: number): Promise<void> {
  const rows = await db.query('select id from runbooks where id = ?', [id])
  if (rows.length === 0) throw runbooks.notFound(id)
}

/** @throws RunbookNotFound */
export async function listRunbookTraits(db: Db, id: number): Promise<string[]> {
  await mustExist(db, id)
  return (await traitsOf(db, [id])).get(id) ?? []
}

/** Replaces all traits. @throws RunbookNotFound */
export async function setRunbookTraits(db: Db, id: number, traits: readonly string[]): Promise<string[]> {
  await mustExist(db, id)
  await db.transaction(async (trx) => {
    await trx.deleteFrom('runbook_traits').where('runbook_id', '=', id).execute()
    await addTraits(db, trx, id, traits)
  })
  return await listRunbookTraits(db, id)
}

/** Adds a trait; one that is there already is fine. @throws RunbookNotFound */
export async function addRunbookTrait(db: Db, id: number, trait: string): Promise<void> {
  await mustExist(db, id)
  try {
    await addTraits(db, db.sql, id, [trait])
  } catch (error) {
    if (duplicateColumns(error) === undefined) throw error
  }
}

/** @throws RunbookNotFound @throws RunbookTraitNotFound */
export async function removeRunbookTrait(db: Db, id: number, trait: string): Promise<void> {
  await mustExist(db, id)
  const { numDeletedRows } = await db.sql
    .deleteFrom('runbook_traits')
    .where('runbook_id', '=', id)
    .where('trait', '=', trait)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new RunbookTraitNotFound({ runbook_id: id, trait })
}

/** @throws RunbookNotFound */
export async function removeAllRunbookTraits(db: Db, id: number): Promise<void> {
  await mustExist(db, id)
  await db.sql.deleteFrom('runbook_traits').where('runbook_id', '=', id).execute()
}
