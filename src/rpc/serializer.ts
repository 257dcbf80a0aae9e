import type { ReleaseName } from '../objects/convert.ts'
import { targetVersion } from '../objects/convert.ts'
import type { WithChanges } from '../objects/versioned-object.ts'
import { deserialize, isPrimitive, objectNamed, serialize } from '../objects/wire.ts'
import type { MethodSpec } from './contract.ts'

type Args = Readonly<Record<string, unknown>>

/** What the caller sends: only arguments that were given; objects as primitives, with what changed. */
export function argsToWire(spec: MethodSpec, args: Args, pin: ReleaseName | undefined): Record<string, unknown> {
  const wire: Record<string, unknown> = {}
  for (const name of spec.args) {
    const value = args[name] === undefined ? spec.defaults?.[name] : args[name]
    if (value === undefined || (args[name] === undefined && (spec.newer ?? []).includes(name))) continue
    const objectName = spec.objects?.[name]
    if (objectName === undefined) {
      wire[name] = value
      continue
    }
    const object = objectNamed(objectName)
    const { data, changes } = value as WithChanges<Record<string, unknown>>
    // of an object that is not stored yet, only what was given travels
    const isNew = data['id'] === null || data['id'] === undefined
    const set = isNew ? Object.fromEntries(changes.map((field) => [field, data[field]])) : data
    wire[name] = serialize(object, set, { changes, version: targetVersion(object, pin) })
  }
  return wire
}

/** What the called service gets. @throws UnsupportedObjectError, IncompatibleObjectVersion */
export function argsFromWire(spec: MethodSpec, wire: Args): Record<string, unknown> {
  const args: Record<string, unknown> = { ...spec.serverDefaults, ...spec.defaults }
  for (const [name, value] of Object.entries(wire)) {
    if (spec.objects?.[name] === undefined) {
      args[name] = value
      continue
    }
    const { data, changes } = deserialize(value)
    args[name] = { data, changes }
  }
  return args
}

export function resultToWire(spec: MethodSpec, result: unknown, pin: ReleaseName | undefined): unknown {
  if (spec.returns === undefined || result === null || result === undefined) return result ?? null
  const object = objectNamed(spec.returns)
  return serialize(object, result as Record<string, unknown>, { version: targetVersion(object, pin) })
}

export function resultFromWire(spec: MethodSpec, wire: unknown): unknown {
  return spec.returns !== undefined && isPrimitive(wire) ? deserialize(wire).data : wire
}

/** The version that the message needs: higher when one of the younger arguments is sent. */
export function versionFor(spec: MethodSpec, wire: Args): string {
  return spec.withAll !== undefined && (spec.newer ?? []).some((name) => name in wire) ? spec.withAll : spec.since
}
