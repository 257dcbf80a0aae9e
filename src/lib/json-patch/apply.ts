/**
 * JSON Patch (RFC 6902), the three operations that Ironic takes, with the strictness of python-jsonpatch: a value is
 * copied in, lists know no negative or leading-zero index, and nothing below a text can be reached.
 */

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

/** Why an operation could not be applied. */
export class PatchFailure extends Error {
  override readonly name = 'PatchFailure'
}

type Container = unknown[] | Record<string, unknown>
const isMember = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parts of a JSON pointer (RFC 6901), unescaped. */
export function pointerParts(pointer: string): string[] {
  const bad = /~[^01]|~$/.exec(pointer)
  if (bad !== null) throw new PatchFailure(`Found invalid escape ${bad[0]} in ${pointer}`)
  const parts = pointer.split('/')
  if (parts.shift() !== '') throw new PatchFailure(`The path ${pointer} must start with /`)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function listIndex(part: string): number | '-' {
  if (part === '-') return part
  if (!/^(0|[1-9][0-9]*)$/.test(part)) throw new PatchFailure(`'${part}' is not a valid sequence index`)
  return Number(part)
}

function walk(document: unknown, part: string): unknown {
  if (Array.isArray(document)) {
    const index = listIndex(part)
    if (index === '-' || index >= document.length) throw new PatchFailure(`index '${part}' is out of bounds`)
    return document[index]
  }
  if (isMember(document)) {
    if (!Object.hasOwn(document, part)) throw new PatchFailure(`member '${part}' not found`)
    return document[part]
  }
  throw new PatchFailure(`Document does not support members, cannot get '${part}'`)
}

/** Sets a member whatever its name is: `__proto__` is an ordinary one. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

function add(target: Container, part: string, value: unknown): void {
  if (!Array.isArray(target)) return setMember(target, part, value)
  const index = listIndex(part)
  if (index === '-') target.push(value)
  else if (index > target.length) throw new PatchFailure("can't insert outside of list")
  else target.splice(index, 0, value)
}

function replace(target: Container, part: string, value: unknown): void {
  if (Array.isArray(target)) {
    const index = listIndex(part)
    if (index === '-' || index >= target.length) throw new PatchFailure("can't replace outside of list")
    target[index] = value
    return
  }
  if (!Object.hasOwn(target, part)) throw new PatchFailure(`can't replace a non-existent object '${part}'`)
  setMember(target, part, value)
}

function remove(target: Container, part: string): void {
  if (Array.isArray(target)) {
    const index = listIndex(part)
    if (index === '-' || index >= target.length) throw new PatchFailure(`can't remove a non-existent object '${part}'`)
    target.splice(index, 1)
    return
  }
  if (!Object.hasOwn(target, part)) throw new PatchFailure(`can't remove a non-existent object '${part}'`)
  delete target[part]
}

/**
 * Applies one operation to `document`, which is changed in place.
 * @throws PatchFailure when the operation does not fit the document
 */
export function applyOperation(document: Record<string, unknown>, operation: PatchOperation): void {
  const parts = pointerParts(operation.path)
  const last = parts.pop()
  if (last === undefined) throw new PatchFailure('the whole document cannot be replaced')
  if (operation.op !== 'remove' && !('value' in operation)) {
    throw new PatchFailure("The operation does not contain a 'value' member")
  }
  let target: unknown = document
  for (const part of parts) target = walk(target, part)
  if (!Array.isArray(target) && !isMember(target)) {
    throw new PatchFailure(`unable to fully resolve the path ${operation.path}, part ${last}`)
  }
  if (operation.op === 'remove') remove(target, last)
  else if (operation.op === 'add') add(target, last, copy(operation.value))
  else replace(target, last, copy(operation.value))
}

/** A deep copy of JSON data that keeps members named `__proto__` as members, and numbers kept as text. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (!isMember(value) || JSON.isRawJSON(value)) return value
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setMember(result, key, copy(value[key]))
  return result as T
}
