import { BIOSSettingListNotFound, BIOSSettingNotFound } from '../errors/driver.ts'
import { NodeNotFound } from '../errors/node.ts'
import { BIOSSettingObject, type BIOSSetting } from '../objects/bios-setting.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'

/** What a BMC tells about one setting. */
export type BiosSettingValues = Pick<BIOSSetting, 'name' | 'value'> &
  Partial<Omit<BIOSSetting, 'node_id' | 'name' | 'value' | 'created_at' | 'updated_at'>>

const stored = codec<Omit<BIOSSetting, 'node_id'> & { node_id: number | string }>(BIOSSettingObject, 'bios_settings')

// the node is a number in the table and a text in the object
const decode = (row: Row): BIOSSetting => ({ ...stored.decode(row), node_id: String(row['node_id']) })

async function mustExist(db: Db, nodeId: number): Promise<void> {
  const rows = await db.query('select id from nodes where id = ?', [nodeId])
  if (rows.length === 0) throw new NodeNotFound({ node: nodeId })
}

/** The settings of a node by name. @throws NodeNotFound */
export async function listBiosSettings(db: Db, nodeId: number): Promise<BIOSSetting[]> {
  await mustExist(db, nodeId)
  return (await db.query<Row>('select * from bios_settings where node_id = ? order by name', [nodeId])).map(decode)
}

/** @throws NodeNotFound @throws BIOSSettingNotFound */
export async function getBiosSetting(db: Db, nodeId: number, name: string): Promise<BIOSSetting> {
  await mustExist(db, nodeId)
  const [row] = await db.query<Row>('select * from bios_settings where node_id = ? and name = ?', [nodeId, name])
  if (row === undefined) throw new BIOSSettingNotFound({ node: nodeId, name })
  return decode(row)
}

/** What `syncBiosSettings` did. */
export interface BiosSettingChanges {
  readonly created: readonly string[]
  readonly updated: readonly string[]
  readonly deleted: readonly string[]
}

const complete = (setting: BiosSettingValues) => ({
  attribute_type: null,
  allowable_values: null,
  lower_bound: null,
  max_length: null,
  min_length: null,
  read_only: null,
  reset_required: null,
  unique: null,
  upper_bound: null,
  ...setting,
})

/** Stores settings: new ones, and those whose value differs. Others stay. @throws NodeNotFound */
export async function applyBiosSettings(
  db: Db,
  nodeId: number,
  settings: readonly BiosSettingValues[],
): Promise<BiosSettingChanges> {
  return await store(db, nodeId, settings, false)
}

/** As `applyBiosSettings`, and forgets the settings that are not among these: what a BMC just told is all there is. @throws NodeNotFound */
export async function syncBiosSettings(
  db: Db,
  nodeId: number,
  settings: readonly BiosSettingValues[],
): Promise<BiosSettingChanges> {
  return await store(db, nodeId, settings, true)
}

async function store(
  db: Db,
  nodeId: number,
  settings: readonly BiosSettingValues[],
  all: boolean,
): Promise<BiosSettingChanges> {
  const known = new Map((await listBiosSettings(db, nodeId)).map((each) => [each.name, each.value]))
  const given = new Map(settings.map((each) => [each.name, each]))
  const created = [...given.values()].filter(({ name }) => !known.has(name))
  const updated = [...given.values()].filter(({ name, value }) => known.has(name) && known.get(name) !== value)
  const deleted = all ? [...known.keys()].filter((name) => !given.has(name)) : []
  await db.transaction(async (trx) => {
    if (created.length > 0)
      await trx
        .insertInto('bios_settings')
        .values(created.map((each) => stored.forInsert(db, { ...complete(each), node_id: nodeId }) as never))
        .execute()
    for (const { name, ...values } of updated)
      await trx
        .updateTable('bios_settings')
        .set(stored.forUpdate(db, { ...complete({ name, ...values }) }) as never)
        .where('node_id', '=', nodeId)
        .where('name', '=', name)
        .execute()
    if (deleted.length > 0)
      await trx.deleteFrom('bios_settings').where('node_id', '=', nodeId).where('name', 'in', deleted).execute()
  })
  return { created: created.map((each) => each.name), updated: updated.map((each) => each.name), deleted }
}

/**
 * Forgets settings: those named, or all.
 * @throws NodeNotFound @throws BIOSSettingListNotFound naming those that were not there (the others are gone)
 */
export async function deleteBiosSettings(db: Db, nodeId: number, names?: readonly string[]): Promise<void> {
  const known = new Set((await listBiosSettings(db, nodeId)).map((each) => each.name))
  const wanted = names ?? [...known]
  if (wanted.length > 0)
    await db.sql.deleteFrom('bios_settings').where('node_id', '=', nodeId).where('name', 'in', wanted).execute()
  const missing = wanted.filter((name) => !known.has(name))
  if (missing.length > 0) throw new BIOSSettingListNotFound({ node: nodeId, names: missing.join(',') })
}
