/**
 * Rows as JSON text. For a resource, a microversion and a choice of fields a writer is compiled once; it puts the text of each
 * column together without parsing or printing JSON again.
 */
import type { Row } from '../db/codec.ts'
import { InvalidParameterValue, NotAcceptable } from '../errors/base.ts'
import { linksText } from './links.ts'
import { isOpen, type Field, type FieldTable, type Window } from './resource.ts'
import type { JsonSchema, Stored } from './values.ts'

export interface ViewContext {
  /** where clients reach this service */
  readonly url: string
}

/** Writes one value as JSON text. */
type Write<C> = (row: Row, context: C) => string

/** A member of the full view that is no field: links to something below the resource. */
export interface Extra<C> extends Window {
  readonly text: Write<C>
}

export interface ViewSpec<C extends ViewContext> {
  readonly fields: FieldTable
  /** first segment of the links */
  readonly resource: string
  /** what follows it; the uuid unless told */
  readonly ident?: (row: Row) => string
  /** fields that are not their column's text */
  readonly made?: Readonly<Record<string, Write<C>>>
  readonly extras?: Readonly<Record<string, Extra<C>>>
  /** `links` and the extras may be named in `fields` too */
  readonly extrasNamed?: boolean
  readonly links?: false
  /** the answer to `fields` naming something younger than the request */
  readonly tooNew?: (name: string, field: Field) => Error | undefined
}

export interface View<C extends ViewContext> {
  readonly fields: FieldTable
  /** names for a list that asks for nothing in particular */
  readonly listed: readonly string[]
  /** @throws InvalidParameterValue or NotAcceptable for names that the version does not have */
  check(names: readonly string[] | undefined, minor: number): void
  /** @param names null: everything that the version has */
  writer(minor: number, names: readonly string[] | null): Write<C>
  /** what a writer writes, for the OpenAPI document; a client that names fields gets fewer */
  schema(minor: number): JsonSchema
  /** columns that a writer reads; null when it may read any */
  columns(minor: number, names: readonly string[]): string[]
}

/** `2026-01-02 03:04:05.678901` of a column as the API shows it. */
export const timeText = (text: unknown): string => {
  if (text === null || text === undefined) return 'null'
  const time = text as string
  const rest = time.slice(11)
  return `"${time.slice(0, 10)}T${rest.endsWith('.000000') ? rest.slice(0, 8) : rest}+00:00"`
}

/** Nothing in it needs an escape: JSON text and the text itself are the same. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  const text = String(value)
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

const writers: Readonly<Record<Stored, (value: unknown) => string>> = {
  text: textOf,
  bool: (value) => (value === null || value === undefined ? 'null' : Number(value) === 0 ? 'false' : 'true'),
  int: (value) => (value === null || value === undefined ? 'null' : String(value)),
  time: timeText,
  dict: (value) => (value === null || value === undefined || value === '' ? '{}' : (value as string)),
  list: (value) => (value === null || value === undefined || value === '' ? '[]' : (value as string)),
}

const shownTypes: Readonly<Record<Stored, JsonSchema>> = {
  text: { type: ['string', 'null'] },
  bool: { type: ['boolean', 'null'] },
  int: { type: ['integer', 'null'] },
  time: { type: ['string', 'null'], format: 'date-time' },
  dict: { type: ['object', 'null'] },
  list: { type: 'array' },
}
/** What a column may hold is less certain than what a body may: older releases wrote it too. */
const shownSchema = ({ value: { stored, schema } }: Field): JsonSchema =>
  stored === 'dict' && !('type' in schema) ? {} : shownTypes[stored]
const linksSchema: JsonSchema = { type: 'array' }

function writerOf<C extends ViewContext>(
  name: string,
  field: Field,
  made: Write<C> | undefined,
  minor: number,
): Write<C> {
  if (made !== undefined) return made
  const column = field.column ?? name
  const { shownAs } = field
  const write = writers[field.value.stored]
  if (shownAs !== undefined) return (row) => write(shownAs(row[column], minor))
  return (row) => write(row[column])
}

export function defineView<C extends ViewContext = ViewContext>(spec: ViewSpec<C>): View<C> {
  const shown = Object.entries(spec.fields).filter(([, field]) => field.shown)
  const extras = Object.entries(spec.extras ?? {})
  const ident = spec.ident ?? ((row: Row) => row['uuid'] as string)
  const compiled = new Map<string, Write<C>>()
  const linkText: Write<C> = (row, context) => linksText(context.url, spec.resource, ident(row))
  const isNamed = (name: string): boolean =>
    spec.extrasNamed === true && (name === 'links' || Object.hasOwn(spec.extras ?? {}, name))

  function compile(minor: number, names: readonly string[] | null): Write<C> {
    const parts: { readonly prefix: string; readonly write: Write<C> }[] = []
    const put = (name: string, write: Write<C>): void => {
      parts.push({ prefix: `${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, write })
    }
    for (const [name, field] of shown) {
      if (!isOpen(field, minor) || (names !== null && !names.includes(name))) continue
      put(name, writerOf(name, field, spec.made?.[name], minor))
    }
    if (spec.links !== false) put('links', linkText)
    for (const [name, extra] of extras) {
      if (isOpen(extra, minor) && (names === null || (isNamed(name) && names.includes(name)))) put(name, extra.text)
    }
    return (row, context) => {
      let text = ''
      for (const { prefix, write } of parts) text += prefix + write(row, context)
      return text === '' ? '{}' : `${text}}`
    }
  }

  return {
    fields: spec.fields,
    listed: shown.filter(([, field]) => field.list).map(([name]) => name),
    check(names, minor) {
      if (names === undefined) return
      const unknown: string[] = []
      for (const name of names) {
        const field = Object.hasOwn(spec.fields, name) ? spec.fields[name] : undefined
        if (field?.named === true && isOpen(field, minor)) continue
        if (field?.named === true) {
          const refused =
            spec.tooNew === undefined
              ? new NotAcceptable(`The field ${name} needs API version 1.${field.since} or newer.`)
              : spec.tooNew(name, field)
          if (refused !== undefined) throw refused
        } else if (!isNamed(name)) unknown.push(name)
      }
      if (unknown.length > 0)
        throw new InvalidParameterValue(`Field(s) "${unknown.join(', ').slice(0, 256)}" are not valid`)
    },
    schema(minor) {
      const own = shown.filter(([, field]) => isOpen(field, minor)).map(([name, field]) => [name, shownSchema(field)])
      const more = extras.filter(([, extra]) => isOpen(extra, minor)).map(([name]) => [name, linksSchema])
      const links = spec.links === false ? {} : { links: linksSchema }
      return { type: 'object', properties: { ...Object.fromEntries([...own, ...more]), ...links } }
    },
    writer(minor, names) {
      const key = names === null ? String(minor) : `${minor} ${names.join(' ')}`
      let write = compiled.get(key)
      if (write === undefined) {
        write = compile(minor, names)
        // choices come from clients: what is kept is bounded
        if (compiled.size > 2000) compiled.clear()
        compiled.set(key, write)
      }
      return write
    },
    columns: (_minor, names) =>
      names.flatMap((name) => {
        const field = spec.fields[name]
        return field === undefined || field.column === null ? [] : [field.column ?? name]
      }),
  }
}

/** An object (parsed JSON, `Date`) in the form of a row, so that what was just written is shown by the same writer. */
export function rowOf(object: Readonly<Record<string, unknown>>): Row {
  const row: Row = {}
  for (const [name, value] of Object.entries(object)) {
    if (value instanceof Date) {
      const text = value.toISOString()
      row[name] = `${text.slice(0, 10)} ${text.slice(11, 23)}000`
    } else row[name] = typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  }
  return row
}
