import { sql } from 'kysely'
import {
  ConductorAlreadyRegistered,
  ConductorHardwareInterfacesAlreadyRegistered,
  ConductorNotFound,
} from '../errors/conductor.ts'
import { ConductorObject, type Conductor } from '../objects/conductor.ts'
import { codec, encodeTime, type Row } from './codec.ts'
import type { Db } from './database.ts'
import type { Page } from './paging.ts'
import { idempotent } from './retry.ts'
import { type Entity, findRow, getRow, listRows } from './rows.ts'
import { duplicateColumns } from './violations.ts'

export const conductorCodec = codec<Conductor>(ConductorObject, 'conductors', { online: 1, conductor_group: '' })

const conductors: Entity<Conductor> = {
  table: 'conductors',
  codec: conductorCodec,
  notFound: (conductor) => new ConductorNotFound({ conductor }),
  conflict: (_columns, { hostname }) => new ConductorAlreadyRegistered({ conductor: hostname }),
}

export interface ConductorValues {
  readonly hostname: string
  /** hardware types */
  readonly drivers: string[]
  readonly conductor_group?: string
}

/**
 * Puts a conductor on line.
 * @param update take over the entry of a conductor of that name that is still on line
 * @throws ConductorAlreadyRegistered
 */
export async function registerConductor(db: Db, values: ConductorValues, { update = false } = {}): Promise<Conductor> {
  const times = { updated_at: db.now(), online: true }
  const { hostname } = values
  await db.transaction(async (trx) => {
    const known = await trx
      .selectFrom('conductors')
      .select(['id', 'online'])
      .where('hostname', '=', hostname)
      .executeTakeFirst()
    if (known === undefined) {
      const row = conductorCodec.forInsert(db, { ...values, ...times })
      await trx
        .insertInto('conductors')
        .values(row as never)
        .execute()
      return
    }
    if (known.online && !update) throw new ConductorAlreadyRegistered({ conductor: hostname })
    const row = conductorCodec.forUpdate(db, { ...values, ...times })
    await trx
      .updateTable('conductors')
      .set(row as never)
      .where('id', '=', known.id)
      .execute()
  })
  return await getRow(db, conductors, 'hostname', hostname)
}

/** The heartbeat. @throws ConductorNotFound */
export async function touchConductor(db: Db, hostname: string, { online = true } = {}): Promise<void> {
  const { numUpdatedRows } = await idempotent(() =>
    db.sql
      .updateTable('conductors')
      .set({ updated_at: encodeTime(db.now(), db.dialect), online: online ? 1 : 0 })
      .where('hostname', '=', hostname)
      .executeTakeFirst(),
  )
  if (numUpdatedRows === 0n) throw new ConductorNotFound({ conductor: hostname })
}

/** Takes a conductor off line. @throws ConductorNotFound */
export async function unregisterConductor(db: Db, hostname: string): Promise<void> {
  const { numUpdatedRows } = await db.sql
    .updateTable('conductors')
    .set({ online: 0, updated_at: encodeTime(db.now(), db.dialect) })
    .where('hostname', '=', hostname)
    .where('online', '=', 1)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new ConductorNotFound({ conductor: hostname })
}

/** Removes a conductor for good: its locks, its interfaces, what refers to it. @throws ConductorNotFound */
export async function deleteConductor(db: Db, hostname: string): Promise<void> {
  const updated_at = encodeTime(db.now(), db.dialect)
  await db.transaction(async (trx) => {
    const known = await trx.selectFrom('conductors').select('id').where('hostname', '=', hostname).executeTakeFirst()
    if (known === undefined) throw new ConductorNotFound({ conductor: hostname })
    const held = sql<boolean>`lower(reservation) = lower(${hostname})`
    await trx
      .updateTable('nodes')
      .set({
        target_power_state: null,
        last_error: 'Pending power operation was aborted due to conductor restart',
        updated_at,
      })
      .where(held)
      .where('target_power_state', 'is not', null)
      .execute()
    await trx.updateTable('nodes').set({ reservation: null, updated_at }).where(held).execute()
    await trx
      .updateTable('nodes')
      .set({ conductor_affinity: null, updated_at })
      .where('conductor_affinity', '=', known.id)
      .execute()
    await trx.deleteFrom('conductor_hardware_interfaces').where('conductor_id', '=', known.id).execute()
    await trx.deleteFrom('conductors').where('id', '=', known.id).execute()
  })
}

/** @throws ConductorNotFound */
export const getConductor = (db: Db, hostname: string): Promise<Conductor> =>
  getRow(db, conductors, 'hostname', hostname)
export const findConductor = (db: Db, hostname: string): Promise<Conductor | undefined> =>
  findRow(db, conductors, 'hostname', hostname)
/** @throws ConductorNotFound */
export const getConductorById = (db: Db, id: number): Promise<Conductor> => getRow(db, conductors, 'id', id)

/** A page of all conductors. The marker is a hostname. @throws ConductorNotFound for the marker @throws InvalidParameterValue */
export async function listConductors(db: Db, { marker, ...page }: Page = {}): Promise<Conductor[]> {
  if (marker === undefined) return (await listRows(db, conductors, page)).map(conductorCodec.decode)
  // there are few: the page is cut here, since conductors have no uuid to start from
  const all = (await listRows(db, conductors, { ...page, limit: undefined })).map(conductorCodec.decode)
  const at = all.findIndex((each) => each.hostname === marker)
  if (at === -1) throw new ConductorNotFound({ conductor: marker })
  return all.slice(at + 1, page.limit === undefined ? undefined : at + 1 + page.limit)
}

/**
 * Whether a conductor answers: it is on line and its heartbeat is younger than `timeout` seconds (`[conductor]heartbeat_timeout`). On
 * SQLite, as in real Ironic, only the flag counts: there is one process, and it is the one that asks. So it is with a timeout of 0.
 */
function alive(db: Db, timeout: number): { condition: string; parameters: readonly unknown[] } {
  if (db.dialect === 'sqlite' || timeout <= 0) return { condition: 'conductors.online = 1', parameters: [] }
  const limit = encodeTime(new Date(db.now().getTime() - timeout * 1000), db.dialect)
  return { condition: 'conductors.online = 1 and conductors.updated_at >= ?', parameters: [limit] }
}

/** Names of the conductors that answer. */
export async function onlineConductors(db: Db, timeout: number): Promise<string[]> {
  const { condition, parameters } = alive(db, timeout)
  const rows = await db.query<{ hostname: string }>(
    `select hostname from conductors where ${condition} order by hostname`,
    parameters,
  )
  return rows.map((row) => row.hostname)
}

/** The conductors that no longer answer; whose nodes others take over. */
export async function offlineConductors(db: Db, timeout: number): Promise<{ id: number; hostname: string }[]> {
  if (db.dialect === 'sqlite') return await db.query('select id, hostname from conductors where online = 0 order by id')
  const limit = encodeTime(new Date(db.now().getTime() - timeout * 1000), db.dialect)
  return await db.query('select id, hostname from conductors where updated_at < ? order by id', [limit])
}

/** What a conductor offers. */
export interface HardwareInterface {
  readonly hardware_type: string
  /** `power`, `deploy`, … */
  readonly interface_type: string
  readonly interface_name: string
  readonly default: boolean
}

/** @throws ConductorHardwareInterfacesAlreadyRegistered */
export async function registerHardwareInterfaces(
  db: Db,
  conductorId: number,
  interfaces: readonly HardwareInterface[],
): Promise<void> {
  if (interfaces.length === 0) return
  const created_at = encodeTime(db.now(), db.dialect)
  const rows = interfaces.map((each) => ({
    conductor_id: conductorId,
    hardware_type: each.hardware_type,
    interface_type: each.interface_type,
    interface_name: each.interface_name,
    default: each.default ? 1 : 0,
    version: null,
    created_at,
    updated_at: null,
  }))
  try {
    await db.sql.insertInto('conductor_hardware_interfaces').values(rows).execute()
  } catch (error) {
    if (duplicateColumns(error) === undefined) throw error
    throw new ConductorHardwareInterfacesAlreadyRegistered({ row: `conductor ${conductorId}` }, { cause: error })
  }
}

export async function unregisterHardwareInterfaces(db: Db, conductorId: number): Promise<void> {
  await db.sql.deleteFrom('conductor_hardware_interfaces').where('conductor_id', '=', conductorId).execute()
}

export interface RegisteredInterface extends HardwareInterface {
  readonly hostname: string
  readonly conductor_group: string
}

/** What the living conductors offer, all or of these hardware types. */
export async function listHardwareInterfaces(
  db: Db,
  timeout: number,
  hardwareTypes?: readonly string[],
): Promise<RegisteredInterface[]> {
  const { condition, parameters } = alive(db, timeout)
  if (hardwareTypes?.length === 0) return []
  const types =
    hardwareTypes === undefined ? '' : ` and i.hardware_type in (${hardwareTypes.map(() => '?').join(', ')})`
  const rows = await db.query<Row>(
    `select i.hardware_type, i.interface_type, i.interface_name, i."default", conductors.hostname, conductors.conductor_group
     from conductor_hardware_interfaces i join conductors on conductors.id = i.conductor_id
     where ${condition}${types} order by i.id`,
    [...parameters, ...(hardwareTypes ?? [])],
  )
  return rows.map((row) => ({ ...row, default: Boolean(row['default']) }) as unknown as RegisteredInterface)
}

/** What one conductor offers. */
export async function listInterfacesOfConductor(db: Db, conductorId: number): Promise<HardwareInterface[]> {
  const rows = await db.query<Row>(
    'select hardware_type, interface_type, interface_name, "default" from conductor_hardware_interfaces where conductor_id = ? order by id',
    [conductorId],
  )
  return rows.map((row) => ({ ...row, default: Boolean(row['default']) }) as unknown as HardwareInterface)
}

/** A living host that serves a hardware type; one hash ring is made of each conductor group and hardware type. */
export interface ActiveDriverHost {
  readonly hardware_type: string
  readonly hostname: string
  readonly conductor_group: string
}

/** Which living hosts serve which hardware types. */
export async function activeDriverHosts(db: Db, timeout: number): Promise<ActiveDriverHost[]> {
  const { condition, parameters } = alive(db, timeout)
  const rows = await db.query<ActiveDriverHost>(
    `select distinct i.hardware_type, conductors.hostname, conductors.conductor_group
     from conductor_hardware_interfaces i join conductors on conductors.id = i.conductor_id where ${condition}
     order by conductors.hostname, i.hardware_type`,
    parameters,
  )
  return rows.map((row) => ({ ...row }))
}
