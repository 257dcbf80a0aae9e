/** Bodies that create or change a resource, read by its field table. */
import { ClientSideError, Invalid, InvalidParameterValue, NotAcceptable } from '../errors/base.ts'
import { PatchError } from '../errors/general.ts'
import { applyOperation, copy, PatchFailure, type PatchOperation } from '../lib/json-patch/apply.ts'
import { isOpen, type FieldTable } from './resource.ts'
import { Dict, isMembers, refuse, type Members, type Value } from './values.ts'

/** The body of a POST: fields of the table that may be created, all values read. */
export function createBody(fields: FieldTable): Value<Members> {
  const allowed = Object.entries(fields).filter(([, field]) => field.create)
  const mandatory = allowed.filter(([, field]) => field.mandatory).map(([name]) => name)
  return {
    stored: 'dict',
    schema: {
      type: 'object',
      properties: Object.fromEntries(allowed.map(([name, field]) => [name, field.value.schema])),
      required: mandatory,
      additionalProperties: false,
    },
    read(name, value) {
      const given = Dict.read(name, value)
      for (const key of mandatory) {
        if (!Object.hasOwn(given, key)) throw new InvalidParameterValue(`'${key}' is a required property`)
      }
      const body: Members = {}
      for (const [key, member] of Object.entries(given)) {
        const field = Object.hasOwn(fields, key) ? fields[key] : undefined
        if (field?.create !== true)
          throw new InvalidParameterValue(
            `Additional properties are not allowed ('${key.slice(0, 64)}' was unexpected)`,
          )
        body[key] = field.value.read(key, member)
      }
      return body
    },
  }
}

/** @throws NotAcceptable when the body holds a field that is younger than the request */
export function rejectTooNew(fields: FieldTable, body: Members, minor: number): void {
  for (const [name, value] of Object.entries(body)) {
    const field = fields[name]
    if (field === undefined || isOpen(field, minor) || value === (field.unset ?? null)) continue
    throw new NotAcceptable(`The field ${name} needs API version 1.${field.since} or newer.`)
  }
}

const pathShape = /^(\/[\p{L}\p{N}_-]+)+$/u
const operations = ['add', 'replace', 'remove']

/** A JSON patch as Ironic takes it: `add`, `replace` and `remove`, paths of letters, digits, `_` and `-`. */
export const PatchBody: Value<PatchOperation[]> = {
  stored: 'list',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        op: { type: 'string', enum: operations },
        path: { type: 'string', pattern: '^(/[\\w-]+)+$' },
        value: {},
      },
      required: ['op', 'path'],
      additionalProperties: false,
    },
  },
  read(name, value) {
    if (!Array.isArray(value)) return refuse(name, 'a list of patch operations', value)
    for (const operation of value as unknown[]) {
      if (!isMembers(operation)) return refuse(name, 'a patch operation', operation)
      const extra = Object.keys(operation).find((key) => !['op', 'path', 'value'].includes(key))
      if (extra !== undefined) throw new InvalidParameterValue(`A patch operation has no member ${extra.slice(0, 64)}`)
      if (!operations.includes(operation['op'] as string))
        return refuse(name, `one of ${operations.join(', ')} as op`, operation['op'] ?? null)
      const { path } = operation as { path?: unknown }
      if (typeof path !== 'string' || !pathShape.test(path)) {
        return refuse(name, 'a path of names after slashes (/extra/key)', path ?? null)
      }
      if (operation['op'] !== 'remove' && !Object.hasOwn(operation, 'value')) {
        throw new PatchError({ patch: JSON.stringify(operation).slice(0, 256), reason: "it has no member 'value'" })
      }
    }
    return value as PatchOperation[]
  },
}

/** First segment of a path; from 1.98 on with its escapes undone. */
export function patchedField(path: string, minor: number): string {
  const first = path.split('/')[1] ?? ''
  return minor >= 98 ? first.replaceAll('~1', '/').replaceAll('~0', '~') : first
}

/** The fields that the patch touches. @throws Invalid when one is not among the allowed */
export function patchedFields(
  patch: readonly PatchOperation[],
  allowed: readonly string[],
  minor: number,
): Set<string> {
  const touched = new Set<string>()
  for (const { path } of patch) {
    const name = patchedField(path, minor)
    if (!allowed.includes(name)) {
      throw new Invalid(`Cannot patch ${path.slice(0, 128)}. Only the following can be updated: ${allowed.join(', ')}`)
    }
    touched.add(name)
  }
  return touched
}

/** Values that the patch gives to exactly this path. */
export const patchValues = (patch: readonly PatchOperation[], path: string): unknown[] =>
  patch.filter((operation) => operation.path === path && operation.op !== 'remove').map((operation) => operation.value)

/** Whether the path, or anything below it, is removed. */
export function isPathRemoved(patch: readonly PatchOperation[], path: string): boolean {
  const exact = path.replace(/\/+$/, '')
  return patch.some(
    (operation) => operation.op === 'remove' && (operation.path === exact || operation.path.startsWith(`${exact}/`)),
  )
}

/** Whether the first operation changes the path or something below it. */
export function isPathUpdated(patch: readonly PatchOperation[], path: string): boolean {
  const exact = path.replace(/\/+$/, '')
  const [first] = patch
  return first !== undefined && (first.path === exact || first.path.startsWith(`${exact}/`))
}

/**
 * The document after the patch; the given one stays as it is.
 * @throws ClientSideError for a new member at the root, PatchError when an operation does not fit
 */
export function patched(document: Members, patch: readonly PatchOperation[]): Members {
  for (const { op, path } of patch) {
    if (op === 'add' && path.split('/').length === 2 && !Object.hasOwn(document, path.replace(/^\/+/, ''))) {
      throw new ClientSideError(
        `Adding a new attribute (${path.slice(0, 128)}) to the root of the resource is not allowed`,
      )
    }
  }
  const result = copy(document)
  for (const operation of patch) {
    try {
      applyOperation(result, operation)
    } catch (cause) {
      if (!(cause instanceof PatchFailure)) throw cause
      throw new PatchError({ patch: JSON.stringify(operation).slice(0, 256), reason: cause.message }, { cause })
    }
  }
  return result
}

/**
 * Checks a patched document by the field table: members that are no field of it are dropped, the others are read.
 * A field that was removed from the document is absent in the result.
 */
export function readPatched(fields: FieldTable, document: Members, allowed: (name: string) => boolean): Members {
  const result: Members = {}
  for (const [name, value] of Object.entries(document)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined && allowed(name)) result[name] = field.value.read(name, value)
  }
  for (const [name, field] of Object.entries(fields)) {
    if (field.mandatory && allowed(name) && !Object.hasOwn(document, name)) {
      throw new InvalidParameterValue(`'${name}' is a required property`)
    }
  }
  return result
}

/** Names of the fields that a PATCH may touch. */
export const updatable = (fields: FieldTable): string[] =>
  Object.entries(fields)
    .filter(([, field]) => field.update)
    .map(([name]) => name)
