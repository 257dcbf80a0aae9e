import { randomUUID } from 'node:crypto'
import { InvalidParameterValue } from '../errors/base.ts'
import { DeployTemplateAlreadyExists, DeployTemplateDuplicateName, DeployTemplateNotFound } from '../errors/runbook.ts'
import { DeployTemplateObject, type DeployTemplate } from '../objects/deploy-template.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { isUuid } from './identity.ts'
import type { Page } from './paging.ts'
import { conflictOr, type Entity, listRows, within } from './rows.ts'
import { deployTemplateSteps, replaceSteps, stepsOf } from './step-rows.ts'

export type DeployTemplateValues = Partial<Omit<DeployTemplate, 'id' | 'created_at' | 'updated_at'>>

export const deployTemplateCodec = codec<DeployTemplate>(DeployTemplateObject, 'deploy_templates')

const templates: Entity<DeployTemplate> = {
  table: 'deploy_templates',
  codec: deployTemplateCodec,
  notFound: (template) => new DeployTemplateNotFound({ template }),
  conflict: (columns, { name, uuid }) =>
    columns.includes('name') ? new DeployTemplateDuplicateName({ name }) : new DeployTemplateAlreadyExists({ uuid }),
}

async function complete(db: Db, rows: readonly Row[]): Promise<DeployTemplate[]> {
  const found = rows.map(deployTemplateCodec.decode)
  const steps = await stepsOf(
    db,
    deployTemplateSteps,
    found.map((each) => each.id),
  )
  for (const each of found) each.steps = steps.get(each.id) ?? []
  return found
}

async function one(db: Db, column: 'id' | 'uuid' | 'name', value: number | string): Promise<DeployTemplate> {
  const rows = await db.query<Row>(`select * from deploy_templates where ${column} = ?`, [value])
  const [template] = await complete(db, rows)
  if (template === undefined) throw templates.notFound(value)
  return template
}

/** By uuid or name. @throws DeployTemplateNotFound */
export const getDeployTemplate = (db: Db, ident: string): Promise<DeployTemplate> =>
  one(db, isUuid(ident) ? 'uuid' : 'name', ident)

/** @throws DeployTemplateNotFound */
export const getDeployTemplateById = (db: Db, id: number): Promise<DeployTemplate> => one(db, 'id', id)

/** @throws DeployTemplateDuplicateName @throws DeployTemplateAlreadyExists */
export async function createDeployTemplate(db: Db, values: DeployTemplateValues): Promise<DeployTemplate> {
  const full = { ...values, uuid: values.uuid ?? randomUUID() }
  try {
    await db.transaction(async (trx) => {
      const row = deployTemplateCodec.forInsert(db, full)
      await trx
        .insertInto('deploy_templates')
        .values(row as never)
        .execute()
      const { id } = await trx
        .selectFrom('deploy_templates')
        .select('id')
        .where('uuid', '=', full.uuid)
        .executeTakeFirstOrThrow()
      await replaceSteps(db, trx, deployTemplateSteps, id, values.steps ?? [])
    })
  } catch (error) {
    throw conflictOr(error, templates, full)
  }
  return await one(db, 'uuid', full.uuid)
}

/** Steps, when given, replace all steps. @throws DeployTemplateNotFound @throws DeployTemplateDuplicateName */
export async function updateDeployTemplate(
  db: Db,
  ident: number | string,
  values: DeployTemplateValues,
): Promise<DeployTemplate> {
  if ('uuid' in values) throw new InvalidParameterValue('Cannot overwrite UUID for an existing deploy template.')
  const column = typeof ident === 'number' ? 'id' : 'uuid'
  try {
    await db.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('deploy_templates')
        .set(deployTemplateCodec.forUpdate(db, values) as never)
        .where(column, '=', ident as never)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw templates.notFound(ident)
      if (values.steps === undefined) return
      const { id } = await trx
        .selectFrom('deploy_templates')
        .select('id')
        .where(column, '=', ident as never)
        .executeTakeFirstOrThrow()
      await replaceSteps(db, trx, deployTemplateSteps, id, values.steps)
    })
  } catch (error) {
    throw conflictOr(error, templates, values)
  }
  return await one(db, column, ident)
}

/** @throws DeployTemplateNotFound */
export async function destroyDeployTemplate(db: Db, ident: number | string): Promise<void> {
  const { id } = typeof ident === 'number' ? { id: ident } : await getDeployTemplate(db, ident)
  await db.transaction(async (trx) => {
    await trx.deleteFrom('deploy_template_steps').where('deploy_template_id', '=', id).execute()
    const { numDeletedRows } = await trx.deleteFrom('deploy_templates').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw templates.notFound(ident)
  })
}

/** @throws DeployTemplateNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listDeployTemplates = async (db: Db, page: Page = {}): Promise<DeployTemplate[]> =>
  await complete(db, await listRows(db, templates, page))

/** Those of the names that exist: the templates that the traits of an instance ask for. */
export const listDeployTemplatesByNames = async (db: Db, names: readonly string[]): Promise<DeployTemplate[]> =>
  await complete(db, await listRows(db, templates, {}, (query) => within('deploy_templates.name')(query, names)))
