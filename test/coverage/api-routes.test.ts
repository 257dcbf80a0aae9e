/** The declared routes against what was measured at real Ironic: paths, methods, versions, statuses, parameters, bodies, rules. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openApi } from '../../src/api/describe/openapi.ts'
import { isOpen, type Route } from '../../src/api/resource.ts'
import { routes } from '../../src/api/resources/index.ts'

interface Measured {
  readonly since?: string | null
  readonly status_below?: number
  readonly never?: boolean
  readonly only_in?: string[]
}
interface MeasuredRoute {
  readonly method: Route['method']
  readonly path: string
  readonly variant?: string
  readonly status: number
  readonly since: string
  readonly only_in?: string[]
  readonly query?: Readonly<Record<string, Measured>>
  readonly body_fields?: Readonly<Record<string, Measured>>
  readonly policies: readonly { rule: string; effect?: string }[]
  readonly response_keys?: Readonly<Record<string, string>>
}

const { routes: measured } = JSON.parse(
  await readFile(join(import.meta.dirname, '../facts/api-routes.json'), 'utf8'),
) as { routes: MeasuredRoute[] }

const minorOf = (version: string): number => Number(version.split('.')[1])
const anonymous = (path: string): string =>
  path
    .replace(/\/$/, '')
    .replaceAll(/\{[^}]+\}/g, ':x')
    .replaceAll(/:\w+/g, ':x')
const key = ({ method, path }: { method: string; path: string }): string => `${method} ${anonymous(path)}`
const declared = new Map(routes.map((route) => [key(route), route]))
/** Versions are discovered without a route. */
const discovered = new Set(['GET ', 'GET /v1'])
const compared = measured.filter((route) => !discovered.has(key(route)))

test('every measured route is declared', () => {
  const missing = new Set(compared.map(key).filter((name) => !declared.has(name)))
  assert.deepEqual([...missing], [])
})

test('a route is served from the version on that was measured, with the measured status', () => {
  const wrong: string[] = []
  for (const route of compared) {
    if (route.variant !== undefined) continue
    const ours = declared.get(key(route))!
    const since = minorOf(route.since)
    const isFirst = (isOpen(ours, since) || ours.also.includes(since)) && (since === 1 || !isOpen(ours, since - 1))
    if (!isFirst) wrong.push(`${key(route)}: since ${route.since}, declared ${ours.since}`)
    // what a vendor's method answers is for the driver to say
    const free = route.path.includes('/vendor_passthru/')
    if (!free && ours.status !== route.status)
      wrong.push(`${key(route)}: status ${route.status}, declared ${ours.status}`)
  }
  assert.deepEqual(wrong, [])
})

/** The fields that a patch may change: those of the body that creates the resource. */
const patchable = ({ method, path }: Route) =>
  method === 'PATCH' ? declared.get(`POST ${anonymous(path.replace(/\/:\w+$/, ''))}`)?.fields : undefined
/** What the handler looks at itself, as the answer depends on more than the version. */
const byHandler = new Set([
  // names of nodes are refused below 1.5, uuids never
  'GET /v1/ports node',
  'GET /v1/ports/detail node',
  // never bound to the version in patches
  ...['available_for_dynamic_portgroup', 'category', 'description', 'name', 'vendor'].map(
    (name) => `PATCH /v1/ports/:x ${name}`,
  ),
  // bound to the verb too
  ...['configdrive', 'deploy_steps', 'disable_ramdisk'].map((name) => `PUT /v1/nodes/:x/states/provision ${name}`),
  'POST /v1/allocations node',
])
/** Bodies that the resource reads itself. */
const ownBodies = ['/v1/runbooks', '/v1/portgroups', '/vifs']

test('every parameter and body member is taken from the measured version on, and refused as measured before', () => {
  const wrong: string[] = []
  for (const route of compared) {
    const ours = declared.get(key(route))!
    const since = minorOf(route.since)
    for (const [name, { since: own, status_below: below, never }] of Object.entries({
      ...route.query,
      ...route.body_fields,
    })) {
      if (/[=. ]/.test(name) || byHandler.has(`${key(route)} ${name}`) || never === true || own === null) continue
      const first = own === undefined ? since : minorOf(own)
      const taken = ours.args[name] ?? ours.fields?.[name] ?? patchable(ours)?.[name]
      if (taken === undefined) {
        const inBody = (ours.body?.schema['properties'] as object | undefined) ?? {}
        if (ownBodies.some((part) => route.path.includes(part)) && ours.args[name] === undefined) continue
        if (!ours.lenient && !Object.hasOwn(inBody, name)) wrong.push(`${key(route)}: ${name} is not declared`)
        continue
      }
      if (!isOpen(taken, first))
        wrong.push(`${key(route)}: ${name} is taken from ${own ?? route.since}, declared ${taken.since}`)
      else if (first > since && isOpen(taken, first - 1))
        wrong.push(`${key(route)}: ${name} is not taken before ${own}`)
      const arg = ours.args[name]
      if (arg !== undefined && below !== undefined && arg.below !== below)
        wrong.push(`${key(route)}: ${name} is answered with ${below} before, declared ${arg.below}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('the answer has the measured members from the measured versions on', () => {
  const wrong: string[] = []
  for (const route of compared) {
    const ours = declared.get(key(route))!
    if (ours.answer === undefined || route.response_keys === undefined || route.variant !== undefined) continue
    for (const [name, version] of Object.entries(route.response_keys)) {
      const at = (minor: number): boolean => {
        const { properties } = ours.answer!.schema(minor) as {
          properties: Record<string, { items?: { properties?: object } }>
        }
        const list = Object.values(properties).find(({ items }) => items?.properties !== undefined)
        return Object.hasOwn(list?.items?.properties ?? properties, name)
      }
      const minor = minorOf(version)
      if (!at(minor)) wrong.push(`${key(route)}: ${name} is not shown at ${version}`)
      if (minor > minorOf(route.since) && at(minor - 1)) wrong.push(`${key(route)}: ${name} is shown before ${version}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('the first rule that a route asks is among those that it declares', () => {
  const wrong: string[] = []
  for (const route of compared) {
    const [first] = route.policies
    if (first === undefined) continue
    const ours = declared.get(key(route))!
    if (!ours.policies.includes(first.rule))
      wrong.push(`${key(route)}: ${first.rule}, declared ${ours.policies.join(', ')}`)
  }
  assert.deepEqual(wrong, [])
})

test('the OpenAPI document of each version names each path once, with operations of different ids', () => {
  for (const minor of [1, 20, 50, 78, 94, 115]) {
    const { paths } = openApi(routes, minor, 'http://api') as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const templates = Object.keys(paths).map((path) => anonymous(path))
    assert.equal(new Set(templates).size, templates.length)
    const ids = Object.values(paths).flatMap((operations) => Object.values(operations).map((o) => o.operationId))
    assert.equal(new Set(ids).size, ids.length)
    const served = routes.filter((route) => isOpen(route, minor) || route.also.includes(minor))
    assert.equal(ids.length, served.length)
  }
})
