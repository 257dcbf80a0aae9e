/** Recorded calls of real peers: what they send is understood, and ours is the same. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { contextFromWire, contextToWire } from '../../../src/rpc/context-wire.ts'
import { conductorContract } from '../../../src/rpc/conductor.ts'
import type { MethodSpec } from '../../../src/rpc/contract.ts'
import { argsFromWire, argsToWire, resultFromWire, resultToWire, versionFor } from '../../../src/rpc/serializer.ts'
import { isPrimitive } from '../../../src/objects/wire.ts'

type Json = Record<string, unknown>
interface Frame {
  readonly name: string
  readonly source: string
  readonly request: { readonly body: unknown }
  readonly response: { readonly body: unknown }
}
const recorded = JSON.parse(readFileSync(new URL('json-rpc-frames.json', import.meta.url), 'utf8')) as {
  contexts: Record<string, Json>
  frames: Frame[]
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The order of changes means nothing. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'ironic_object.changes' ? (member as string[]).toSorted() : sorted(member),
    ]),
  )
}

const methods = conductorContract.methods as Readonly<Record<string, MethodSpec>>
const object = (name: string) => name.startsWith('object_')

describe('requests of the real API, as recorded', () => {
  for (const { name, source, request } of recorded.frames) {
    const body = request.body
    if (source !== 'REST API' || !isObject(body) || !isObject(body['params'])) continue
    const method = String(body['method'])
    const spec = methods[method]
    it(`${name}: ${method}`, () => {
      assert.ok(spec)
      const { context: _context, 'rpc.version': version, ...args } = body['params'] as Json
      const understood = argsFromWire(spec, args)
      const { serverDefaults = {} } = spec
      const given = Object.fromEntries(
        Object.entries(understood).filter(
          ([key]) => key in args || !(key in serverDefaults || (spec.newer ?? []).includes(key)),
        ),
      )
      const ours = argsToWire(spec, given, undefined)
      assert.deepEqual(sorted(ours), sorted(args))
      assert.equal(versionFor(spec, ours), version)
    })
  }
})

describe('answers of the real conductor, as recorded', () => {
  for (const { name, request, response } of recorded.frames) {
    const [call, body] = [request.body, response.body]
    if (!isObject(call) || !isObject(body) || !isPrimitive(body['result']) || object(String(call['method']))) continue
    const spec = methods[String(call['method'])]
    it(name, () => {
      assert.ok(spec)
      const understood = resultFromWire(spec, body['result'])
      // a reply of the real one may list what the caller did not ask for as changed
      const { 'ironic_object.changes': _changes, ...wanted } = body['result'] as Json
      assert.deepEqual(resultToWire(spec, understood, undefined), wanted)
    })
  }
})

describe('contexts, as recorded', () => {
  // the others were made by hand: empty, and with keys that nobody knows
  for (const [name, sent] of Object.entries(recorded.contexts).filter(([, context]) => 'user_identity' in context))
    it(name, () => {
      const ours = contextToWire(contextFromWire(sent, () => 'req-new'))
      assert.deepEqual(Object.keys(ours).toSorted(), Object.keys(sent).toSorted())
      for (const key of [
        'user',
        'project_id',
        'system_scope',
        'user_domain',
        'project_domain',
        'is_admin',
        'roles',
        'request_id',
        'is_admin_project',
      ])
        assert.deepEqual(ours[key], sent[key], key)
    })
})
