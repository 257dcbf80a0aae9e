import { releases, releaseAliases } from './releases.ts'
import type { VersionedObject } from './versioned-object.ts'

export type ReleaseName = keyof typeof releases | keyof typeof releaseAliases

/** Orders versions such as `1.9` and `1.10`: negative when `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number)
  const [majorB = 0, minorB = 0] = b.split('.').map(Number)
  return majorA - majorB || minorA - minorB
}

/** Whether a peer of `version` can read what is written as `requested`: same major number, not younger. */
export const isCompatible = (requested: string, version: string): boolean =>
  requested.split('.')[0] === version.split('.')[0] && compareVersions(requested, version) <= 0

/** A release by its number, its code name or its series (`2025.2`). */
export const releaseNamed = (name: ReleaseName): (typeof releases)[keyof typeof releases] =>
  releases[
    name in releaseAliases ? releaseAliases[name as keyof typeof releaseAliases] : (name as keyof typeof releases)
  ]

/**
 * The version that an object has towards others (database and RPC): its newest in the pinned release, or the newest of all.
 * A release that did not know the object yet does not pin it.
 */
export function targetVersion(object: VersionedObject, pin: ReleaseName | undefined): string {
  if (pin === undefined) return object.version
  const known: Readonly<Record<string, readonly string[]>> = releaseNamed(pin).objects
  const versions = known[object.name]
  if (versions === undefined || versions.length === 0) return object.version
  return versions.reduce((newest, each) => (compareVersions(each, newest) > 0 ? each : newest))
}

const emptied = new WeakMap<VersionedObject, Map<string, Readonly<Record<string, unknown>>>>()

/** The fields that a reader of that version does not know, with what it must find in their columns. */
export function unknownTo(object: VersionedObject, version: string): Readonly<Record<string, unknown>> {
  let byVersion = emptied.get(object)
  if (byVersion === undefined) emptied.set(object, (byVersion = new Map()))
  let values = byVersion.get(version)
  if (values === undefined) {
    const younger = Object.entries(object.fields).filter(
      ([, field]) => field.since !== undefined && !field.keptInDatabase && compareVersions(field.since, version) > 0,
    )
    byVersion.set(version, (values = Object.fromEntries(younger.map(([name, field]) => [name, field.before ?? null]))))
  }
  return values
}

/** What is stored: the values as a reader of the pinned release understands them, and the version that says so. */
export function forDatabase<V extends object>(
  object: VersionedObject,
  values: V,
  pin: ReleaseName | undefined,
): V & { version: string } {
  const version = targetVersion(object, pin)
  if (version === object.version) return { ...values, version }
  return { ...values, ...unknownTo(object, version), version }
}
