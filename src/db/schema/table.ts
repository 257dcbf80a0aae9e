/** How a table is told: one declaration gives the DDL of SQLite and of MariaDB. */

export interface Column {
  readonly type: 'id' | 'int' | 'bigint' | 'bool' | 'time' | 'text' | 'longText' | 'varchar'
  readonly length?: number
  readonly notNull?: boolean
  /** default of the column in the database; what SQLAlchemy fills in on insert is in `codec.ts` */
  readonly default?: string | number
}

type Settings = Pick<Column, 'notNull' | 'default'>

export const id = (): Column => ({ type: 'id', notNull: true })
export const int = (settings: Settings = {}): Column => ({ type: 'int', ...settings })
export const bigint = (settings: Settings = {}): Column => ({ type: 'bigint', ...settings })
export const bool = (settings: Settings = {}): Column => ({ type: 'bool', ...settings })
export const time = (settings: Settings = {}): Column => ({ type: 'time', ...settings })
export const text = (settings: Settings = {}): Column => ({ type: 'text', ...settings })
/** TEXT of up to 4 GiB on MariaDB, where TEXT ends at 64 KiB. */
export const longText = (settings: Settings = {}): Column => ({ type: 'longText', ...settings })
export const varchar = (length: number, settings: Settings = {}): Column => ({ type: 'varchar', length, ...settings })

export interface ForeignKey {
  readonly column: string
  /** table; the column is always its `id` */
  readonly references: string
  /** name of the constraint; without one the database numbers it */
  readonly name?: string
}

export interface Table {
  readonly columns: Readonly<Record<string, Column>>
  readonly primaryKey: readonly string[]
  readonly unique: Readonly<Record<string, readonly string[]>>
  readonly indexes: Readonly<Record<string, readonly string[]>>
  readonly foreignKeys: readonly ForeignKey[]
}

export const table = (columns: Table['columns'], keys: Partial<Omit<Table, 'columns'>> = {}): Table => ({
  columns,
  primaryKey: keys.primaryKey ?? ['id'],
  unique: keys.unique ?? {},
  indexes: keys.indexes ?? {},
  foreignKeys: keys.foreignKeys ?? [],
})
