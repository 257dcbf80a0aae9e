/** The tables of the objects against the recorded ones of real Ironic. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { compareVersions, forDatabase, releaseNamed, targetVersion, unknownTo } from './convert.ts'
import { objects } from './index.ts'
import { releaseAliases, releases } from './releases.ts'
import type { Field, FieldType, VersionedObject } from './versioned-object.ts'
import { deserialize, serialize } from './wire.ts'

interface FieldFacts {
  readonly type: string
  readonly nullable: boolean
  readonly default?: unknown
  readonly element?: string
  readonly object?: string
}
interface ObjectFacts {
  readonly version: string
  readonly fields: Record<string, FieldFacts>
  readonly accepted_versions?: readonly string[]
  readonly versions_in_current_release?: readonly string[]
  readonly removed_on_wire?: Record<string, readonly string[]>
  readonly versioned_fields?: Record<
    string,
    { since: string; db_downgrade: { set_to: unknown } | string; upgrade: { set_to: unknown } | string }
  >
}
const facts = JSON.parse(readFileSync(join(import.meta.dirname, '../../test/facts/objects.json'), 'utf8')) as {
  objects: Record<string, ObjectFacts>
  release_mapping: Record<string, { rpc: string; api: string; objects: Record<string, string[]> }>
  release_aliases: Record<string, string>
  serialization: Record<string, unknown>
}

const pythonTypes: Record<FieldType, string> = {
  int: 'IntegerField',
  text: 'StringField',
  uuid: 'UUIDField',
  mac: 'MACAddressField',
  dict: 'FlexibleDictField',
  time: 'DateTimeField',
  bool: 'BooleanField',
  dicts: 'ListOfFlexibleDictsField',
  texts: 'ListOfStringsField',
  object: 'ObjectField',
  objects: 'ListOfObjectsField',
}

const elementOf: Partial<Record<FieldType, string>> = { dicts: 'FlexibleDict', texts: 'String' }

const told = (field: Field<unknown>): FieldFacts => ({
  type: pythonTypes[field.type],
  nullable: field.nullable,
  ...(field.default === undefined ? {} : { default: field.default }),
  ...(field.type === 'object' ? { object: field.of! } : {}),
  ...(field.type === 'objects' ? { element: field.of! } : {}),
  ...(elementOf[field.type] === undefined ? {} : { element: elementOf[field.type]! }),
})

const tables: Readonly<Record<string, VersionedObject>> = objects

test('the same objects', () => {
  assert.deepEqual(Object.keys(tables).toSorted(), Object.keys(facts.objects).toSorted())
})

test('the same releases and names of releases', () => {
  const told = Object.fromEntries(
    Object.entries(releases).map(([name, { api, rpc, objects: versions }]) => [name, { api, rpc, objects: versions }]),
  )
  const recorded = Object.fromEntries(
    Object.entries(facts.release_mapping).map(([name, { api, rpc, objects: versions }]) => [
      name,
      { api, rpc, objects: versions },
    ]),
  )
  assert.deepEqual(told, recorded)
  assert.deepEqual(releaseAliases, facts.release_aliases)
})

for (const [name, object] of Object.entries(tables))
  describe(name, () => {
    const recorded = facts.objects[name]!
    test('fields, types and versions', () => {
      assert.equal(object.version, recorded.version)
      const fields = Object.fromEntries(Object.entries(object.fields).map(([field, value]) => [field, told(value)]))
      assert.deepEqual(fields, recorded.fields)
      if (recorded.accepted_versions !== undefined) assert.deepEqual(object.accepts, recorded.accepted_versions)
    })

    test('what came with which version, and what older releases find', () => {
      const since = Object.entries(object.fields).filter(([, field]) => field.since !== undefined)
      const expected = recorded.versioned_fields ?? {}
      assert.deepEqual(since.map(([field]) => field).toSorted(), Object.keys(expected).toSorted())
      for (const [field, { since: version, before, keptInDatabase }] of since) {
        const { db_downgrade: downgrade, upgrade, since: recordedSince } = expected[field]!
        assert.equal(version, recordedSince, field)
        if (typeof downgrade === 'string') assert.equal(keptInDatabase, true, field)
        else assert.deepEqual(before ?? null, downgrade.set_to, field)
        if (typeof upgrade === 'string') assert.equal(before, undefined, field)
        else assert.deepEqual(before, upgrade.set_to, field)
      }
    })

    test('what is left out for older peers', () => {
      const data = Object.fromEntries(Object.entries(object.fields).map(([field, value]) => [field, sample(value)]))
      for (const [version, removed] of Object.entries(recorded.removed_on_wire ?? {})) {
        const primitive = serialize(object, data, { version })
        assert.equal(primitive['ironic_object.version'], version)
        const sent = new Set(Object.keys(primitive['ironic_object.data']))
        const left = Object.keys(object.fields).filter((field) => !sent.has(field))
        assert.deepEqual(left.toSorted(), removed.toSorted(), version)
      }
    })

    test('goes over the wire and comes back', () => {
      const data = Object.fromEntries(Object.entries(object.fields).map(([field, value]) => [field, sample(value)]))
      const changes = Object.keys(data).slice(0, 2)
      const received = deserialize(JSON.parse(JSON.stringify(serialize(object, data, { changes }))))
      assert.deepEqual(received.data, data)
      assert.deepEqual(received.changes, changes)
    })
  })

function sample(field: Field<unknown>): unknown {
  const member = () =>
    Object.fromEntries(Object.entries(tables[field.of!]!.fields).map(([name, each]) => [name, sample(each)]))
  switch (field.type) {
    case 'int':
      return 7
    case 'text':
    case 'uuid':
      return 'x'
    case 'mac':
      return '52:54:00:00:00:01'
    case 'dict':
      return { a: [1, { b: null }] }
    case 'time':
      return new Date('2026-01-02T03:04:05Z')
    case 'bool':
      return true
    case 'dicts':
      return [{ a: 1 }]
    case 'texts':
      return ['x']
    case 'objects':
      return [member()]
    case 'object': {
      const list = tables[field.of!]!.fields['objects']!
      return sample(list)
    }
  }
}

describe('pinned to an older release', () => {
  test('the newest version that the release knows is written', () => {
    assert.equal(targetVersion(objects.Node, '2025.2'), releaseNamed('2025.2').objects.Node[0])
    // 12.1 lists the versions of templates the other way round
    assert.equal(targetVersion(objects.DeployTemplate, '12.1'), '1.1')
    assert.equal(targetVersion(objects.Runbook, '20.1'), objects.Runbook.version)
    assert.equal(targetVersion(objects.Node, undefined), '1.44')
    assert.ok(compareVersions('1.9', '1.10') < 0)
  })

  test('fields that it does not know are emptied, the others stay', () => {
    const written = forDatabase(objects.Node, { extra: { a: 1 }, health: 'OK', instance_name: 'i' }, '2025.2')
    const version = targetVersion(objects.Node, '2025.2')
    assert.deepEqual(written, { ...unknownTo(objects.Node, version), extra: { a: 1 }, version })
    assert.equal(written.health, null)
  })
})
