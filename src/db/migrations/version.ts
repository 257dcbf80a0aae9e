import type { Db } from '../database.ts'

const isMissingTable = (error: unknown): boolean => {
  const { errno, message = '' } = error as { errno?: number; message?: string }
  return errno === 1146 || /no such table/.test(message)
}

/** The revision that the schema is stamped with; undefined for an empty database. */
export async function schemaVersion(db: Db): Promise<string | undefined> {
  try {
    const [row] = await db.query<{ version_num: string }>('select version_num from alembic_version')
    return row?.version_num
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}
