import { ChassisAlreadyExists, ChassisNotEmpty, ChassisNotFound } from '../errors/chassis.ts'
import { ChassisObject, type Chassis } from '../objects/chassis.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import type { Page } from './paging.ts'
import { type Entity, getRow, insertRow, listRows, updateRow } from './rows.ts'

export type ChassisValues = Partial<Omit<Chassis, 'id' | 'created_at' | 'updated_at'>>

export const chassisCodec = codec<Chassis>(ChassisObject, 'chassis')

const chassis: Entity<Chassis> = {
  table: 'chassis',
  codec: chassisCodec,
  notFound: (ident) => new ChassisNotFound({ chassis: ident }),
  conflict: (_columns, values) => new ChassisAlreadyExists({ uuid: values.uuid }),
}

/** @throws ChassisNotFound */
export const getChassis = (db: Db, uuid: string): Promise<Chassis> => getRow(db, chassis, 'uuid', uuid)
/** @throws ChassisNotFound */
export const getChassisById = (db: Db, id: number): Promise<Chassis> => getRow(db, chassis, 'id', id)
/** @throws ChassisAlreadyExists */
export const createChassis = (db: Db, values: ChassisValues): Promise<Chassis> => insertRow(db, chassis, values)
/** @throws ChassisNotFound */
export const updateChassis = (db: Db, ident: number | string, values: ChassisValues): Promise<Chassis> =>
  updateRow(db, chassis, ident, values)

/** @throws ChassisNotEmpty while nodes are in it @throws ChassisNotFound */
export async function destroyChassis(db: Db, ident: number | string): Promise<void> {
  const { id } = typeof ident === 'number' ? { id: ident } : await getChassis(db, ident)
  await db.transaction(async (trx) => {
    const node = await trx.selectFrom('nodes').select('id').where('chassis_id', '=', id).limit(1).executeTakeFirst()
    if (node !== undefined) throw new ChassisNotEmpty({ chassis: ident })
    const { numDeletedRows } = await trx.deleteFrom('chassis').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw new ChassisNotFound({ chassis: ident })
  })
}

/** The rows as the database has them. */
export const listChassisRows = (db: Db, page: Page = {}): Promise<Row[]> => listRows(db, chassis, page)

/** @throws ChassisNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listChassis = async (db: Db, page: Page = {}): Promise<Chassis[]> =>
  (await listChassisRows(db, page)).map(chassisCodec.decode)

/** Uuids of chassis by id, in one query. */
export async function chassisUuids(db: Db, ids: Iterable<number | null>): Promise<Map<number, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await db.sql.selectFrom('chassis').select(['id', 'uuid']).where('id', 'in', wanted).execute()
  return new Map(rows.map((row) => [row.id, row.uuid ?? '']))
}
