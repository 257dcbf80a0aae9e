/**
 * The columns of the unique constraint that a change broke, or undefined when `error` is something else.
 * SQLite names the columns, MariaDB the constraint; Ironic's constraints are called `uniq_<table>0<column>[0<column>]`.
 */
export function duplicateColumns(error: unknown): readonly string[] | undefined {
  const { message = '', errno, errcode } = (error ?? {}) as { message?: string; errno?: number; errcode?: number }
  if (errcode === 2067 || errcode === 1555) {
    const list = /UNIQUE constraint failed: (.+)$/s.exec(message)?.[1] ?? ''
    return list.split(', ').map((each) => each.slice(each.indexOf('.') + 1).trim())
  }
  if (errno !== 1062) return undefined
  // MariaDB before 10.11 and MySQL 5.7 give the bare key, MySQL 8 puts `table.` before it
  const key = (/for key '([^']+)'/.exec(message)?.[1] ?? '').replace(/^[^.]+\./, '')
  return key.startsWith('uniq_') ? key.split('0').slice(1) : [key]
}
