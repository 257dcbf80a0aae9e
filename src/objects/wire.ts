import { compareVersions } from './convert.ts'
import { objects } from './index.ts'
import type { Field, JsonDict, VersionedObject, WithChanges } from './versioned-object.ts'

/**
 * Versioned objects on the wire (oslo.versionedobjects): `ironic_object.name`, `.namespace`, `.version`, `.data` and, when there are
 * any, `.changes`. Times are whole seconds with `Z`.
 */
export interface Primitive {
  readonly 'ironic_object.name': string
  readonly 'ironic_object.namespace': string
  readonly 'ironic_object.version': string
  readonly 'ironic_object.data': JsonDict
  readonly 'ironic_object.changes'?: readonly string[]
}

/** The object is of a version that is younger than ours; `oslo_versionedobjects.exception`. */
export class IncompatibleObjectVersion extends Error {
  override readonly name = 'IncompatibleObjectVersion'
}

/** There is no object of that name. */
export class UnsupportedObjectError extends Error {
  override readonly name = 'UnsupportedObjectError'
}

const tables: Readonly<Record<string, VersionedObject>> = objects

/** The table of an object. @throws UnsupportedObjectError */
export function objectNamed(name: string): VersionedObject {
  const object = Object.hasOwn(tables, name) ? tables[name] : undefined
  if (object === undefined) throw new UnsupportedObjectError(`There is no object "${name}".`)
  return object
}

const isObject = (value: unknown): value is JsonDict =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isPrimitive = (value: unknown): value is Primitive =>
  isObject(value) && typeof value['ironic_object.name'] === 'string' && isObject(value['ironic_object.data'])

const timeToWire = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

function toWire(field: Field<unknown>, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return timeToWire(value)
  if (field.type === 'objects') return (value as JsonDict[]).map((item) => serialize(objectNamed(field.of ?? ''), item))
  if (field.type === 'object') {
    const list = objectNamed(field.of ?? '')
    return serialize(list, { objects: value })
  }
  return value
}

/**
 * @param data fields that are undefined are not set, and do not travel
 * @param version of an older release: younger fields are left out
 */
export function serialize(
  object: VersionedObject,
  data: Readonly<Record<string, unknown>>,
  { changes = [], version = object.version }: { changes?: readonly string[]; version?: string } = {},
): Primitive {
  const isOlder = version !== object.version
  const fits = (field: Field<unknown>) =>
    !isOlder || field.since === undefined || compareVersions(field.since, version) <= 0
  const set = Object.entries(object.fields).filter(([name, field]) => data[name] !== undefined && fits(field))
  const sent = changes.filter((name) => set.some(([known]) => known === name))
  return {
    'ironic_object.name': object.name,
    'ironic_object.namespace': 'ironic',
    'ironic_object.version': version,
    'ironic_object.data': Object.fromEntries(set.map(([name, field]) => [name, toWire(field, data[name])])),
    ...(sent.length > 0 && { 'ironic_object.changes': sent }),
  }
}

/** A time as peers write it: with or without fraction and offset; without a zone it is UTC. */
function timeFromWire(value: unknown): Date {
  const text = String(value)
  const time = new Date(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  if (Number.isNaN(time.getTime())) throw new UnsupportedObjectError(`"${text}" is no time.`)
  return time
}

function fromWire(field: Field<unknown>, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (field.type) {
    case 'time':
      return timeFromWire(value)
    case 'mac':
      return String(value).toLowerCase().replaceAll('-', ':')
    case 'object':
      return (deserialize(value).data as JsonDict)['objects'] ?? []
    case 'objects':
      return (value as unknown[]).map((item) => deserialize(item).data)
    default:
      return value
  }
}

/** An object that came over the wire: its table and its data; fields that did not come are not there. */
export interface Received extends WithChanges<Record<string, unknown>> {
  readonly object: VersionedObject
  readonly version: string
}

/**
 * Fields that an older sender did not know get the value that their absence means.
 * @throws UnsupportedObjectError, IncompatibleObjectVersion
 */
export function deserialize(primitive: unknown): Received {
  if (!isPrimitive(primitive)) throw new UnsupportedObjectError('What came is no versioned object.')
  if (primitive['ironic_object.namespace'] !== 'ironic')
    throw new UnsupportedObjectError(`Objects of ${primitive['ironic_object.namespace']} are not known here.`)
  const object = objectNamed(primitive['ironic_object.name'])
  const version = primitive['ironic_object.version'].split('.').slice(0, 2).join('.')
  if (version.split('.')[0] !== object.version.split('.')[0] || compareVersions(version, object.version) > 0)
    throw new IncompatibleObjectVersion(`${object.name} ${version} came; ${object.version} is the newest known here.`)
  const sent = primitive['ironic_object.data']
  const data: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(object.fields)) {
    if (Object.hasOwn(sent, name)) data[name] = fromWire(field, sent[name])
    else if (field.since !== undefined && compareVersions(field.since, version) > 0 && field.before !== undefined)
      data[name] = structuredClone(field.before)
  }
  const changes = (primitive['ironic_object.changes'] ?? []).filter((name) => name in object.fields)
  return { object, version, data, changes }
}
