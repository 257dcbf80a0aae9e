import { FirmwareComponentAlreadyExists, FirmwareComponentNotFound } from '../errors/driver.ts'
import { NodeNotFound } from '../errors/node.ts'
import { FirmwareComponentObject, type FirmwareComponent } from '../objects/firmware-component.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import { duplicateColumns } from './violations.ts'

export type FirmwareComponentValues = Pick<FirmwareComponent, 'component' | 'initial_version'> &
  Partial<Omit<FirmwareComponent, 'id' | 'node_id' | 'created_at' | 'updated_at'>>

export const firmwareCodec = codec<FirmwareComponent>(FirmwareComponentObject, 'firmware_information')

async function mustExist(db: Db, nodeId: number): Promise<void> {
  const rows = await db.query('select id from nodes where id = ?', [nodeId])
  if (rows.length === 0) throw new NodeNotFound({ node: nodeId })
}

/** @throws NodeNotFound */
export async function listFirmwareComponents(db: Db, nodeId: number): Promise<FirmwareComponent[]> {
  await mustExist(db, nodeId)
  const rows = await db.query<Row>('select * from firmware_information where node_id = ? order by id', [nodeId])
  return rows.map(firmwareCodec.decode)
}

export async function findFirmwareComponent(
  db: Db,
  nodeId: number,
  component: string,
): Promise<FirmwareComponent | undefined> {
  const [row] = await db.query<Row>('select * from firmware_information where node_id = ? and component = ?', [
    nodeId,
    component,
  ])
  return row === undefined ? undefined : firmwareCodec.decode(row)
}

/** @throws FirmwareComponentNotFound */
export async function getFirmwareComponent(db: Db, nodeId: number, component: string): Promise<FirmwareComponent> {
  const found = await findFirmwareComponent(db, nodeId, component)
  if (found === undefined) throw new FirmwareComponentNotFound({ node: nodeId, name: component })
  return found
}

/** @throws FirmwareComponentAlreadyExists */
export async function createFirmwareComponent(
  db: Db,
  nodeId: number,
  values: FirmwareComponentValues,
): Promise<FirmwareComponent> {
  const row = firmwareCodec.forInsert(db, { ...values, node_id: nodeId })
  try {
    await db.sql
      .insertInto('firmware_information')
      .values(row as never)
      .execute()
  } catch (error) {
    if (duplicateColumns(error) === undefined) throw error
    throw new FirmwareComponentAlreadyExists({ name: values.component, node: nodeId }, { cause: error })
  }
  return await getFirmwareComponent(db, nodeId, values.component)
}

/** @throws FirmwareComponentNotFound */
export async function updateFirmwareComponent(
  db: Db,
  nodeId: number,
  component: string,
  values: Partial<Omit<FirmwareComponentValues, 'component'>>,
): Promise<FirmwareComponent> {
  const { numUpdatedRows } = await db.sql
    .updateTable('firmware_information')
    .set(firmwareCodec.forUpdate(db, values) as never)
    .where('node_id', '=', nodeId)
    .where('component', '=', component)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new FirmwareComponentNotFound({ node: nodeId, name: component })
  return await getFirmwareComponent(db, nodeId, component)
}

/**
 * Stores what a BMC told: a component that is new starts with its version as the initial one; one that is known gets
 * its present version (and identity) when it changed.
 */
export async function syncFirmwareComponents(
  db: Db,
  nodeId: number,
  components: readonly FirmwareComponentValues[],
): Promise<void> {
  const known = new Map((await listFirmwareComponents(db, nodeId)).map((each) => [each.component, each]))
  for (const { initial_version, component, ...values } of components) {
    const before = known.get(component)
    if (before === undefined) await createFirmwareComponent(db, nodeId, { component, initial_version, ...values })
    else {
      const changed = Object.entries(values).filter(
        ([name, value]) => value !== undefined && before[name as keyof FirmwareComponent] !== value,
      )
      if (changed.length > 0) await updateFirmwareComponent(db, nodeId, component, Object.fromEntries(changed))
    }
  }
}
