import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testConfig } from '../config/for-tests.ts'
import { InputFileError } from '../errors/general.ts'
import { silentLogger, type Logger } from '../lib/oslo-log/logger.ts'
import { configuredAudit } from './audit.ts'
import { testApi } from './for-tests.ts'

async function withMap<T>(body: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  try {
    const path = join(folder, 'map.conf')
    await writeFile(path, '[path_keywords]\nchassis = chassis\n')
    return await body(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('each request is told before and after, with who asked and how it ended, and without secrets', () =>
  withMap(async (audit_map_file) => {
    const told: [string, Record<string, unknown>][] = []
    const config = testConfig({ audit: { enabled: true, audit_map_file, ignore_req_list: 'put, DELETE' } })
    const sink = (type: string, event: Record<string, unknown>) => told.push([type, event])
    const audit = await configuredAudit(config, sink, () => new Date())
    await using server = await testApi({ audit })
    await server.ask('GET', '/v1/chassis?password=hush', { headers: { 'x-user-id': 'u', 'x-auth-token': 'hush' } })
    await server.ask('DELETE', '/v1/chassis/x')
    await server.ask('POST', '/v1/chassis', { body: { description: 'x'.repeat(1024 * 1024) } })
    assert.deepEqual(
      told.map(([type, event]) => [
        type,
        event['action'],
        event['outcome'],
        (event['reason'] as { reasonCode?: string })?.reasonCode,
      ]),
      [
        ['audit.http.request', 'read/list', 'pending', undefined],
        ['audit.http.response', 'read/list', 'failure', '400'],
        ['audit.http.request', 'create', 'pending', undefined],
        ['audit.http.response', 'create', 'failure', '413'],
      ],
    )
    const [before, after] = told.map(([, event]) => event)
    assert.equal((before?.['initiator'] as { id: string } | undefined)?.id, 'u')
    assert.equal(before?.['id'], after?.['id'])
    assert.doesNotMatch(JSON.stringify(told), /hush/)
  }))

test('audit is off unless it is asked for, and needs its map', async () => {
  const nothing = () => assert.fail('was told')
  assert.equal(await configuredAudit(testConfig(), nothing, () => new Date()), undefined)
  const config = testConfig({ audit: { enabled: true, audit_map_file: '/dev/null/map.conf' } })
  await assert.rejects(
    configuredAudit(config, nothing, () => new Date()),
    InputFileError,
  )
})

test('the log of requests names request, user and project, and no secret', async () => {
  const lines: [unknown, string][] = []
  const logFor = (who: unknown): Logger => ({
    ...silentLogger,
    info: (text) => lines.push([who, text]),
    named: (_name, request) => logFor(request),
  })
  await using server = await testApi({ log: logFor(undefined) })
  await server.ask('GET', '/v1/chassis?agent_token=hush', { headers: { 'x-user-id': 'u', 'x-project-id': 'p' } })
  const [who, text] = lines.at(-1) ?? assert.fail('nothing was logged')
  const { request_id, user_id, project_id } = who as Record<string, string>
  assert.match(request_id ?? '', /^req-/)
  assert.deepEqual([user_id, project_id], ['u', 'p'])
  assert.match(text, /GET \/v1\/chassis\?.* - 400 \(\d+\.\d\dms\)$/)
  assert.doesNotMatch(text, /hush/)
})
