import { readFile } from 'node:fs/promises'
import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/database.ts'
import { schemaVersion, unreadableRows } from '../../db/migrations/index.ts'
import { interfaceTypes } from '../../domain/interfaces.ts'
import { hardwareTypes } from '../../drivers/hardware-types.ts'
import { allInterfaces as interfaceClasses } from '../../conductor/all-interfaces.ts'
import type { Finding } from './report.ts'

interface Subject {
  readonly db: Db
  readonly config: Config
  readonly findFile: (name: string) => string | undefined
}
type Check = (subject: Subject) => Promise<Finding>

const success: Finding = { code: 0, details: null }
const warning = (details: string): Finding => ({ code: 1, details })
const failure = (details: string): Finding => ({ code: 2, details })

/** The checks of `ironic-status upgrade check`, in its order, by its names. */
export const upgradeChecks: Readonly<Record<string, Check>> = {
  'Object versions': objectVersions,
  'Database Index Status': indexes,
  'MySQL UTF8MB4 Encoding Check': encoding,
  'Policy File JSON to YAML Migration': policyFile,
  'Hardware Types and Interfaces Check': hardware,
  'Mismatch between Child and Parent Owners': owners,
}

async function objectVersions({ db }: Subject): Promise<Finding> {
  const version = await schemaVersion(db)
  if (version === undefined) return success
  const found = await unreadableRows(db)
  if (found.length === 0) return success
  const which = found.map(({ count, table }) => `${count} in ${table}`).join(', ')
  return failure(
    `The database holds rows that this release cannot read: ${which}. Run "ironic-dbsync online_data_migrations" of the previous release.`,
  )
}

const wantedIndexes = [
  'reservation_idx',
  'driver_idx',
  'provision_state_idx',
  'conductor_group_idx',
  'resource_class_idx',
  'owner_idx',
  'lessee_idx',
]

async function indexes({ db }: Subject): Promise<Finding> {
  const rows = await db.query<{ name: string }>(
    db.dialect === 'sqlite'
      ? "select name from sqlite_master where type = 'index' and tbl_name = 'nodes'"
      : "select index_name as name from information_schema.statistics where table_schema = database() and table_name = 'nodes'",
  )
  const there = new Set(rows.map((row) => row.name))
  const missing = wantedIndexes.filter((name) => !there.has(name))
  return missing.length === 0
    ? success
    : warning(
        `Indexes of the table nodes are missing, which makes lists slow: ${missing.join(', ')}. Create them, or run "ironic-dbsync upgrade".`,
      )
}

async function encoding({ db }: Subject): Promise<Finding> {
  if (db.dialect !== 'mysql') return success
  const [row] = await db.query<{ collation: string | null; engine: string | null }>(
    "select table_collation as collation, engine from information_schema.tables where table_schema = database() and table_name = 'allocations'",
  )
  if (row === undefined) return warning('The table allocations does not exist: run "ironic-dbsync upgrade".')
  const problems = [
    ...(row.collation?.startsWith('utf8mb4') === true
      ? []
      : ['The table allocations is not encoded in utf8mb4: run "ironic-dbsync upgrade" to convert it.']),
    ...(row.engine?.toLowerCase() === 'innodb'
      ? []
      : ['The table allocations is not stored by InnoDB: dump it, change its engine and load it again.']),
  ]
  return problems.length === 0 ? success : warning(problems.join(' '))
}

async function policyFile({ config, findFile }: Subject): Promise<Finding> {
  const path = findFile(config.oslo_policy.policy_file ?? 'policy.yaml')
  if (path === undefined) return success
  const text = await readFile(path, 'utf8')
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return success
    throw error
  }
  return failure(
    `The policy file ${path} is JSON, which is no longer maintained: convert it with oslopolicy-convert-json-to-yaml.`,
  )
}

async function hardware({ db }: Subject): Promise<Finding> {
  const warnings: string[] = []
  const columns = interfaceTypes.map((type) => `${type}_interface`)
  if ((await schemaVersion(db)) === undefined) return success
  const rows = await db.query<Record<string, string | null>>(`select uuid, driver, ${columns.join(', ')} from nodes`)
  for (const row of rows) {
    if (!Object.hasOwn(hardwareTypes, row['driver'] ?? '')) {
      warnings.push(`Node ${row['uuid']} uses an unknown driver ${row['driver']}`)
    }
    for (const type of interfaceTypes) {
      const name = row[`${type}_interface`]
      if (name !== null && name !== undefined && name !== '' && !Object.hasOwn(interfaceClasses[type], name)) {
        warnings.push(`Node ${row['uuid']} uses the ${type} interface ${name}, which this release does not have`)
      }
    }
  }
  return warnings.length === 0 ? success : warning(warnings.join('. '))
}

/** Children that others than the parent's owner could reach (CVE-2026-44918). */
async function owners({ db }: Subject): Promise<Finding> {
  if ((await schemaVersion(db)) === undefined) return success
  const rows = await db.query<{ child: string; owner: string | null; parent: string; parent_owner: string | null }>(
    `select child.uuid as child, child.owner as owner, parent.uuid as parent, parent.owner as parent_owner
     from nodes child join nodes parent on child.parent_node = parent.uuid
     where child.owner <> parent.owner or (child.owner is null) <> (parent.owner is null)`,
  )
  if (rows.length === 0) return success
  const lines = rows.map(
    (row) => `- ${row.child}: owner ${row.owner ?? 'None'}, parent ${row.parent} owner ${row.parent_owner ?? 'None'}`,
  )
  return warning(`Some nodes have an owner mismatch with parents:\n${lines.join('\n')}`)
}
