import { IronicError } from '../../errors/define.ts'
import type { Db } from '../database.ts'
import { headRevision, mysqlSchema, sqliteSchema } from '../schema/ddl.ts'
import { olderRevisions } from './older-revisions.ts'
import { type Bench, benchOf, oldestRevision, type Step, steps } from './steps.ts'
import { schemaVersion } from './version.ts'

/** What an upgrade did: the revisions that it applied, in order. */
export interface Upgrade {
  readonly from: string | undefined
  readonly applied: readonly string[]
}

/** Whether the schema is the one of this release. */
export const isCurrent = async (db: Db): Promise<boolean> => (await schemaVersion(db)) === headRevision

function stepsFrom(version: string, target: string): readonly Step[] {
  const chain = [oldestRevision, ...steps.map((step) => step.revision)]
  const end = target === 'head' ? chain.length - 1 : chain.findIndex((each) => each.startsWith(target))
  if (end === -1) throw new IronicError(`There is no schema revision "${target}"; the newest is ${headRevision}.`)
  const start = chain.indexOf(version)
  if (start !== -1) return steps.slice(start, Math.max(start, end))
  if (olderRevisions.includes(version))
    throw new IronicError(
      `The schema (${version}) is older than 2024.2. Bring it to 2024.2 or 2025.1 with "ironic-dbsync upgrade" and "ironic-dbsync online_data_migrations" of that release first.`,
    )
  throw new IronicError(
    `The schema (${version}) is not known to this release (${headRevision} is its newest): a younger release made it. Nothing was changed; run the release that made it, or one that is younger.`,
  )
}

const lockName = 'ironic-dbsync'

/** One `ironic-dbsync` at a time per MariaDB server; SQLite has its own lock. */
async function alone<T>(bench: Bench, body: () => Promise<T>): Promise<T> {
  if (bench.dialect === 'sqlite') return await body()
  const [row] = await bench.rows<{ got: number | null }>('select get_lock(concat(?, database()), 300) as got', [
    lockName,
  ])
  if (row?.got !== 1)
    throw new IronicError(
      'Another ironic-dbsync has been changing this database for five minutes; try again when it is done.',
    )
  try {
    return await body()
  } finally {
    await bench.rows('select release_lock(concat(?, database()))', [lockName])
  }
}

/**
 * Brings the schema to this release, or to `revision`; an empty database gets all tables.
 * MariaDB commits each change by itself: an upgrade that was cut off goes on where it was.
 * @throws IronicError when the schema is too old or too young
 */
export async function upgrade(db: Db, { revision = 'head' }: { revision?: string } = {}): Promise<Upgrade> {
  const from = await schemaVersion(db)
  if (from === undefined) {
    if (revision !== 'head' && !headRevision.startsWith(revision))
      throw new IronicError(`An empty database can only be brought to ${headRevision}.`)
  } else stepsFrom(from, revision) // refuses before it locks
  return await db.transaction(async (trx) => {
    const bench = benchOf(trx, db.dialect)
    return await alone(bench, async () => {
      const version = await schemaVersion(db)
      if (version === undefined) {
        for (const statement of db.dialect === 'sqlite' ? sqliteSchema() : mysqlSchema('upgrade'))
          await bench.run(statement)
        return { from, applied: [headRevision] }
      }
      const applied: string[] = []
      for (const step of stepsFrom(version, revision)) {
        await step.apply(bench)
        await bench.rows('update alembic_version set version_num = ?', [step.revision])
        applied.push(step.revision)
      }
      return { from, applied }
    })
  })
}

/** Sets the revision without changing a table (`ironic-dbsync stamp`). */
export async function stamp(db: Db, revision = 'head'): Promise<void> {
  const target = revision === 'head' ? headRevision : revision
  const known = [...olderRevisions, oldestRevision, ...steps.map((step) => step.revision)]
  if (!known.includes(target))
    throw new IronicError(`There is no schema revision "${target}"; the newest is ${headRevision}.`)
  const version = await schemaVersion(db)
  await db.transaction(async (trx) => {
    const bench = benchOf(trx, db.dialect)
    if (version === undefined) {
      await bench.run(
        'CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))',
      )
      await bench.run('DELETE FROM alembic_version')
      await bench.rows('insert into alembic_version (version_num) values (?)', [target])
    } else await bench.rows('update alembic_version set version_num = ?', [target])
  })
}
