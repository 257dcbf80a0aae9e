import { forDatabase, isCompatible, targetVersion } from '../objects/convert.ts'
import { parseJson } from '../lib/json/exact.ts'
import type { Field, VersionedObject } from '../objects/versioned-object.ts'
import { IncompatibleObjectVersion } from '../objects/wire.ts'
import type { Db, Dialect } from './database.ts'
import { type TableName, tables } from './schema/tables.ts'

/** A row as the database gives it: JSON as text, booleans as 0 and 1, times as text. */
export type Row = Record<string, unknown>

/** `2026-01-02 03:04:05` (MariaDB) or `2026-01-02 03:04:05.678901` (SQLite), UTC. */
export const decodeTime = (text: string): Date => new Date(`${text.slice(0, 10)}T${text.slice(11, 23)}Z`)

/** As SQLAlchemy stores it: SQLite keeps microseconds in its text, a DATETIME of MariaDB has whole seconds. */
export function encodeTime(time: Date, dialect: Dialect): string {
  const text = time.toISOString()
  return dialect === 'sqlite'
    ? `${text.slice(0, 10)} ${text.slice(11, 23)}000`
    : `${text.slice(0, 10)} ${text.slice(11, 19)}`
}

type Kind = 'dict' | 'list' | 'bool' | 'time' | 'int' | 'plain'

const kindOf: Partial<Record<Field<unknown>['type'], Kind>> = {
  dict: 'dict',
  dicts: 'list',
  texts: 'list',
  bool: 'bool',
  time: 'time',
  int: 'int',
}

export interface Codec<T> {
  readonly object: VersionedObject
  /** columns that carry fields of the object, in the object's order */
  readonly columns: readonly string[]
  /** columns of text that is JSON */
  readonly json: ReadonlySet<string>
  /** @throws IncompatibleObjectVersion when a younger release wrote the row */
  readonly decode: (row: Row) => T
  /** The columns of a new row; what is not given gets the defaults that real Ironic's models fill in. */
  readonly forInsert: (db: Db, values: Partial<T>) => Row
  /** The columns that a change sets. */
  readonly forUpdate: (db: Db, values: Partial<T>) => Row
}

function decodeValue(kind: Kind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'dict':
    case 'list':
      return parseJson(value as string)
    case 'bool':
      return Boolean(Number(value))
    case 'time':
      return decodeTime(value as string)
    case 'int':
      // MariaDB gives those that a double cannot hold as text
      return Number(value)
    case 'plain':
      return value
  }
}

const largest = 2n ** 63n - 1n

/** Bounds of BIOS settings reach to the end of 64 bits, where a double rounds up beyond them. */
function storable(value: number): number | bigint {
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return value
  const exact = BigInt(Math.trunc(value))
  return exact > largest ? largest : exact < -largest ? -largest : exact
}

/**
 * JSON in ASCII, as Python writes it: a peer whose connection says `charset=utf8` would get `?` for characters of four bytes.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return /[\u0080-\uffff]/.test(text)
    ? text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text
}

function encodeValue(kind: Kind, value: unknown, dialect: Dialect): unknown {
  // JSON columns never hold NULL: SQLAlchemy's JSON types of Ironic store an empty value instead
  if (kind === 'dict') return jsonText(value ?? {})
  if (kind === 'list') return jsonText(value ?? [])
  if (value === null || value === undefined) return null
  if (kind === 'bool') return value ? 1 : 0
  if (kind === 'int') return storable(value as number)
  if (kind === 'time') return encodeTime(value as Date, dialect)
  return value
}

/**
 * The codec of one table.
 * @param object fields and versions
 * @param table its name
 * @param insertDefaults what real Ironic's models fill in when a new row says nothing, beside empty JSON
 * @param joined fields that queries bring from another table; they are read, never written
 */
export function codec<T extends object>(
  object: VersionedObject,
  table: TableName,
  insertDefaults: Row = {},
  joined: readonly string[] = [],
): Codec<T> {
  const stored = tables[table].columns
  const kinds = new Map<string, Kind>()
  for (const [name, field] of Object.entries(object.fields))
    if (name in stored) kinds.set(name, kindOf[field.type] ?? 'plain')
  const columns = [...kinds.keys()]
  const entries = [...kinds, ...joined.map((name) => [name, 'plain'] as const)]
  const json = new Set(entries.filter(([, kind]) => kind === 'dict' || kind === 'list').map(([name]) => name))

  function encode(db: Db, values: Partial<T>): Row {
    const row: Row = {}
    const written: Row = forDatabase(object, values, db.pin)
    for (const [name, value] of Object.entries(written)) {
      if (value === undefined) continue
      const kind = name === 'version' ? 'plain' : kinds.get(name)
      if (kind === undefined || name === 'id') continue
      row[name] = encodeValue(kind, value, db.dialect)
    }
    return row
  }

  return {
    object,
    columns,
    json,
    decode(row) {
      checkVersion(object, row)
      const data: Row = {}
      for (const [name, kind] of entries) {
        const value = row[name]
        data[name] = kind === 'plain' ? (value ?? null) : decodeValue(kind, value)
      }
      return data as T
    },
    forInsert(db, values) {
      const row = encode(db, values)
      for (const name of json) row[name] ??= encodeValue(kinds.get(name)!, null, db.dialect)
      for (const [name, value] of Object.entries(insertDefaults)) if (!(name in row)) row[name] = value
      row['created_at'] ??= encodeTime(db.now(), db.dialect)
      return row
    },
    forUpdate(db, values) {
      const row = encode(db, values)
      row['updated_at'] ??= encodeTime(db.now(), db.dialect)
      return row
    },
  }
}

// A row that a younger release wrote cannot be read: its fields may mean something else.
function checkVersion(object: VersionedObject, row: Row): void {
  const version = row['version'] as string | null | undefined
  if (version === object.version || version === null || version === undefined) return
  if (!isCompatible(version, object.version))
    throw new IncompatibleObjectVersion(
      `${object.name} ${String(row['uuid'] ?? row['id'])} was stored in version ${version}, this release reads up to ${object.version}; upgrade this service or pin the others with pin_release_version.`,
    )
}

/** Version column of rows without an object of their own. */
export const rowVersion = (object: VersionedObject, db: Db): string => targetVersion(object, db.pin)
