import { objects } from '../../objects/index.ts'
import { compareVersions } from '../../objects/convert.ts'
import { releases } from '../../objects/releases.ts'
import { encodeTime } from '../codec.ts'
import type { Db } from '../database.ts'
import type { TableName } from '../schema/tables.ts'

/** The tables whose rows carry an object version, and the column that batches go by. */
const versioned: readonly { readonly object: keyof typeof objects; readonly table: TableName; readonly key: string }[] =
  [
    { object: 'Chassis', table: 'chassis', key: 'id' },
    { object: 'Conductor', table: 'conductors', key: 'id' },
    { object: 'Port', table: 'ports', key: 'id' },
    { object: 'Portgroup', table: 'portgroups', key: 'id' },
    { object: 'VolumeConnector', table: 'volume_connectors', key: 'id' },
    { object: 'VolumeTarget', table: 'volume_targets', key: 'id' },
    { object: 'BIOSSetting', table: 'bios_settings', key: 'node_id' },
    { object: 'Allocation', table: 'allocations', key: 'id' },
    { object: 'DeployTemplate', table: 'deploy_templates', key: 'id' },
    { object: 'NodeHistory', table: 'node_history', key: 'id' },
    { object: 'NodeInventory', table: 'node_inventory', key: 'id' },
    { object: 'FirmwareComponent', table: 'firmware_information', key: 'id' },
    { object: 'Runbook', table: 'runbooks', key: 'id' },
    { object: 'RunbookTrait', table: 'runbook_traits', key: 'runbook_id' },
    { object: 'InspectionRule', table: 'inspection_rules', key: 'id' },
    { object: 'Node', table: 'nodes', key: 'id' },
  ]

/** All versions of an object that any release of the mapping wrote. */
function supportedVersions(object: string): string[] {
  const all = Object.values(releases).flatMap(
    (release) => (release.objects as Readonly<Record<string, readonly string[]>>)[object] ?? [],
  )
  return [...new Set(all)].toSorted(compareVersions)
}

const isMissing = (error: unknown): boolean => {
  const { errno, message = '' } = error as { errno?: number; message?: string }
  return errno === 1146 || /no such table/.test(message)
}

/** A table with rows that this release cannot read. */
export interface UnreadableRows {
  readonly object: string
  readonly table: string
  readonly count: number
}

/**
 * Looks for rows in versions that this release does not know: too old ones (their release's `online_data_migrations` was left out) and
 * those of a younger release. An upgrade must not begin while there are any.
 */
export async function unreadableRows(db: Db): Promise<UnreadableRows[]> {
  const found: UnreadableRows[] = []
  for (const { object, table } of versioned) {
    const versions = supportedVersions(object)
    // real Ironic itself leaves runbook traits without a version
    const withoutVersion = table === 'runbook_traits' ? '' : 'version is null or '
    try {
      const [row] = await db.query<{ n: number }>(
        `select count(*) as n from ${table} where ${withoutVersion}version not in (${versions.map(() => '?').join(', ')})`,
        versions,
      )
      const count = row?.n ?? 0
      if (count > 0) found.push({ object, table, count })
    } catch (error) {
      // a table that the upgrade is going to make
      if (!isMissing(error)) throw error
    }
  }
  return found
}

/** What one migration did. */
export interface DataMigration {
  /** as real Ironic's `ironic-dbsync online_data_migrations` calls it */
  readonly name: string
  /** how many rows had to be changed when it began */
  readonly total: number
  readonly migrated: number
}

export interface DataMigrations {
  readonly results: readonly DataMigration[]
  /** false: `maxCount` was reached, there may be more */
  readonly finished: boolean
}

type Migration = (db: Db, limit: number) => Promise<Omit<DataMigration, 'name'>>

async function count(db: Db, table: string, where: string, parameters: readonly unknown[] = []): Promise<number> {
  const [row] = await db.query<{ n: number }>(`select count(*) as n from ${table} where ${where}`, parameters)
  return row?.n ?? 0
}

const toBuiltinInspection: Migration = async (db, limit) => {
  const total = await count(db, 'nodes', "inspect_interface = 'inspector'")
  if (total === 0) return { total, migrated: 0 }
  // nodes that are being inspected keep the interface that waits for them
  const ready = (
    await db.sql
      .selectFrom('nodes')
      .select('id')
      .where('inspect_interface', '=', 'inspector')
      .where('provision_state', 'not in', ['inspecting', 'inspect wait', 'inspect failed'])
      .limit(limit)
      .execute()
  ).map((row) => row.id)
  if (ready.length === 0) return { total, migrated: 0 }
  const { numUpdatedRows } = await db.sql
    .updateTable('nodes')
    .set({ inspect_interface: 'agent', updated_at: encodeTime(db.now(), db.dialect) })
    .where('id', 'in', ready)
    .where('inspect_interface', '=', 'inspector')
    .executeTakeFirst()
  return { total, migrated: Number(numUpdatedRows) }
}

const runbookNamesToTraits: Migration = async (db, limit) => {
  const without = 'id not in (select runbook_id from runbook_traits)'
  const total = await count(db, 'runbooks', without)
  if (total === 0) return { total, migrated: 0 }
  const rows = await db.query<{ id: number; name: string }>(
    `select id, name from runbooks where ${without} order by id`,
  )
  const some = rows.slice(0, limit)
  const created_at = encodeTime(db.now(), db.dialect)
  await db.sql
    .insertInto('runbook_traits')
    .values(some.map(({ id, name }) => ({ runbook_id: id, trait: name, version: '1.0', created_at, updated_at: null })))
    .execute()
  return { total, migrated: some.length }
}

const toLatestVersions: Migration = async (db, limit) => {
  let total = 0
  for (const { object, table } of versioned) total += await count(db, table, 'version <> ?', [objects[object].version])
  let left = limit
  let migrated = 0
  for (const { object, table, key } of versioned) {
    if (left <= 0) break
    const { version } = objects[object]
    const rows = await db.query<{ k: number }>(
      `select ${key} as k from ${table} where version <> ? order by ${key} limit ${Math.trunc(left)}`,
      [version],
    )
    const keys = [...new Set(rows.map((row) => row.k))]
    if (keys.length === 0) continue
    const { numUpdatedRows } = await db.sql
      .updateTable(table)
      .set({ version, updated_at: encodeTime(db.now(), db.dialect) } as never)
      .where(key as never, 'in', keys as never)
      .where('version', '<>', version)
      .executeTakeFirst()
    migrated += Number(numUpdatedRows)
    left -= Number(numUpdatedRows)
  }
  return { total, migrated }
}

export interface DataMigrationSettings {
  /** at most so many rows in this call */
  readonly maxCount: number
  /** `[DEFAULT]enabled_inspect_interfaces`: nodes leave `inspector` when it is gone from the list and `agent` is in it */
  readonly enabledInspectInterfaces: readonly string[]
}

/**
 * Brings data to this release, a batch at a time, while the services run (`ironic-dbsync online_data_migrations`).
 * Every migration is one short statement per table, so it holds no lock for long and can be repeated at any time.
 */
export async function onlineDataMigrations(
  db: Db,
  { maxCount, enabledInspectInterfaces: enabled }: DataMigrationSettings,
): Promise<DataMigrations> {
  const leavesInspector = enabled.includes('agent') && !enabled.includes('inspector')
  const nothing: Migration = async () => ({ total: 0, migrated: 0 })
  const migrations: Record<string, Migration> = {
    migrate_to_builtin_inspection: leavesInspector ? toBuiltinInspection : nothing,
    migrate_runbook_names_to_traits: runbookNamesToTraits,
    update_to_latest_versions: toLatestVersions,
  }
  const results: DataMigration[] = []
  let done = 0
  for (const [name, migration] of Object.entries(migrations)) {
    const result = await migration(db, maxCount - done)
    results.push({ name, ...result })
    done += result.migrated
    if (done >= maxCount) return { results, finished: false }
  }
  return { results, finished: true }
}
