/** Requests of the recordings, spoilt in many ways: whatever comes, the answer is never that we failed. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Conversation } from './conversation.ts'
import { loadScenarios, type Json, type Request, type Step } from './scenario.ts'
import { startRecordedService } from './service.ts'

/** How many spoilt requests go before each recorded one; more with the environment variable, for a long run. */
const perStep = Number(process.env['MUTATIONS_PER_STEP'] ?? 3)
const seed = Number(process.env['MUTATIONS_SEED'] ?? 20_261)

/** The same numbers for the same seed (mulberry32). */
function randomNumbers(start: number): (below: number) => number {
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const oddTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '__proto__',
  'constructor',
  'ſı',
  'None',
  'null',
  'true',
  '-1',
  '1e309',
  '../../etc/passwd',
  '%s%n',
  "';--",
  '<b>',
  '{{7*7}}',
  'a'.repeat(300),
  'é'.repeat(5000),
  '00000000-0000-0000-0000-000000000000',
  '2026-13-45T99:99:99',
  'http://[::1',
  '１２',
  'CUSTOM_',
  'https://x\r\nInjected: yes',
]
const oddNumbers = [0, -1, 1.5, 1e308, 2 ** 31, 2 ** 53 + 2, -(2 ** 63)]
const oddValues: Json[] = [
  null,
  true,
  [],
  {},
  [[]],
  [null],
  [{}],
  { a: { b: { c: [1] } } },
  ['a', 1, null],
  ...oddNumbers,
  ...oddTexts,
]
const rawBodies = [
  '',
  '{',
  '[]',
  'null',
  '"text"',
  '0',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"n":1e400}',
  '{"n":NaN}',
  '{"n":-0}',
  '{"n":123456789012345678901234567890}',
  '\ufeff{}',
  `${'['.repeat(30)}${']'.repeat(30)}`,
  `${'{"a":'.repeat(24)}1${'}'.repeat(24)}`,
  '{"a":"\\ud800"}',
  "{'a':1}",
  '{} {}',
]
const segments = [
  '%00',
  '..',
  '.',
  '%ff',
  '%2f',
  '__proto__',
  'detail',
  'x%0a',
  'a'.repeat(2000),
  '%F0%9F%92%A9',
  '-1',
  '',
]
const queries = [
  'fields',
  'detail',
  'limit',
  'marker',
  'sort_key',
  'sort_dir',
  'node',
  'node_uuid',
  'address',
  'driver',
  'type',
  'owner',
  'project',
  'shard',
  'associated',
  'provision_state',
  'index',
  'component',
  'device_types',
  'reset_interfaces',
  'method',
  'addresses',
  'conductor',
  'resource_class',
  'state',
  'all',
  'force',
]

type Random = ReturnType<typeof randomNumbers>
const oneOf = <T>(list: readonly T[], random: Random): T => list[random(list.length)]!

function spoiltValue(value: Json, random: Random): Json {
  if (random(4) === 0 || typeof value !== 'object' || value === null) return oneOf(oddValues, random)
  if (Array.isArray(value)) {
    if (value.length === 0 || random(4) === 0) return [...value, oneOf(oddValues, random)]
    const at = random(value.length)
    return value.map((member, index) => (index === at ? spoiltValue(member, random) : member))
  }
  const keys = Object.keys(value)
  const choice = random(4)
  if (keys.length === 0 || choice === 0)
    return { ...value, [oneOf([...queries, ...oddTexts], random)]: oneOf(oddValues, random) }
  const chosen = oneOf(keys, random)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => choice > 1 || key !== chosen)
      .map(([key, member]) => [key, key === chosen ? spoiltValue(member, random) : member]),
  )
}

function spoiltPath(path: string, random: Random): string {
  const [before = '', query = ''] = path.split('?', 2)
  const parts = before.split('/')
  switch (random(4)) {
    case 0:
      return [...parts, oneOf(segments, random)].join('/') + (query === '' ? '' : `?${query}`)
    case 1:
      parts[1 + random(Math.max(1, parts.length - 1))] = oneOf(segments, random)
      return parts.join('/') + (query === '' ? '' : `?${query}`)
    default: {
      const odd = oneOf([...oddTexts, 'uuid', '1', 'name,uuid', 'asc'], random)
      const sent = odd.isWellFormed() ? encodeURIComponent(odd) : '%ED%A0%80'
      return `${before}?${query === '' ? '' : `${query}&`}${oneOf(queries, random)}=${sent}`
    }
  }
}

const versions = ['1.0', '1.116', '2.1', 'x', '', '1.', '1.1.1', '-1.5', '1.3 x']

/** Another request than was recorded, in one or two ways. */
function spoilt(step: Request, random: Random): Request {
  const { method, path, version, headers, body, rawBody } = step
  const kept = {
    method,
    path,
    ...(version === undefined ? {} : { version }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(rawBody === undefined ? {} : { rawBody }),
  }
  switch (random(8)) {
    case 0:
      return { ...kept, path: spoiltPath(path, random) }
    case 1:
      return { ...kept, version: random(4) === 0 ? oneOf(versions, random) : `1.${1 + random(115)}` }
    case 2:
      return { ...kept, method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'], random) }
    case 3: {
      const { body: _body, ...others } = kept
      return { ...others, rawBody: oneOf(rawBodies, random) }
    }
    case 4:
      return { ...kept, body: spoiltValue(body ?? {}, random), version: `1.${1 + random(115)}` }
    default:
      if (body === undefined) return { ...kept, path: spoiltPath(path, random) }
      return { ...kept, body: spoiltValue(body, random) }
  }
}

test(`spoilt requests are refused, never failed at (seed ${seed})`, async (t) => {
  const random = randomNumbers(seed)
  await using service = await startRecordedService('noauth')
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const failed: string[] = []
  let sent = 0
  for (const [id, scenario] of await loadScenarios(join(import.meta.dirname, 'scenarios'))) {
    if (scenario.server !== undefined && scenario.server !== 'noauth') continue
    const before = async (conversation: Conversation, step: Step) => {
      for (let n = 0; n < perStep; n++) {
        const request = spoilt(step, random)
        sent++
        const { status, text } = await conversation.ask(request).catch((error: unknown) => {
          throw new Error(`${id}: no answer to ${JSON.stringify(request).slice(0, 600)}`, { cause: error })
        })
        if (status >= 500)
          failed.push(`${id}: ${JSON.stringify(request).slice(0, 600)}\n  ${status} ${text.slice(0, 300)}`)
      }
    }
    await new Conversation(scenario, { ...service, agent }, { before, patience: 1500 }).hold()
  }
  t.diagnostic(`${sent} requests`)
  assert.equal(failed.length, 0, failed.join('\n'))
})
