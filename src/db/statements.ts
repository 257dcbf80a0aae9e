/** Changes of one row as text, for the hot paths: the same text each time, so the database prepares it once. */

/** What a column is set to, when it is not a value: an expression with its values. */
export class Expression {
  readonly text: string
  readonly values: readonly unknown[]
  constructor(text: string, values: readonly unknown[]) {
    this.text = text
    this.values = values
  }
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export function insertStatement(table: string, row: Readonly<Record<string, unknown>>, tail = ''): Statement {
  const columns = Object.keys(row)
  return {
    text: `insert into ${table} (${columns.map((each) => `"${each}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})${tail}`,
    values: Object.values(row),
  }
}

/** @param where what follows `where`, and its values */
export function updateStatement(
  table: string,
  row: Readonly<Record<string, unknown>>,
  where: Statement,
  tail = '',
): Statement {
  const values: unknown[] = []
  const changes = Object.entries(row).map(([column, value]) => {
    if (!(value instanceof Expression)) {
      values.push(value)
      return `"${column}" = ?`
    }
    values.push(...value.values)
    return `"${column}" = ${value.text}`
  })
  return {
    text: `update ${table} set ${changes.join(', ')} where ${where.text}${tail}`,
    values: [...values, ...where.values],
  }
}
