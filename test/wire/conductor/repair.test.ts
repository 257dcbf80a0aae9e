/** What start, time-outs and orphan scans do to rows that were left behind, as recorded of real Ironic. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { orphanNodes } from '../../../src/conductor/periodic/orphans.ts'
import { waitTimeouts } from '../../../src/conductor/periodic/wait-timeouts.ts'
import { createTestNode, startTestConductor, type TestConductor } from '../../../src/conductor/for-tests.ts'
import type { ConfigOverrides } from '../../../src/config/for-tests.ts'
import { createSchema } from '../../../src/db/migrations/index.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../../../src/domain/states.ts'
import {
  historyInWords,
  notificationInWords,
  ofConductor,
  quiet,
  rowInWords,
  writeRow,
  type Recorded,
} from './workflow.ts'

const read = async (file: string): Promise<{ cases: Recorded[] }> =>
  JSON.parse(await readFile(new URL(`../../vectors/${file}.json`, import.meta.url), 'utf8'))
const startup = await read('startup-recovery')
const timeouts = await read('timeouts')

const config: ConfigOverrides = {
  DEFAULT: { host: 'cond-1' },
  conductor: {
    ...quiet.conductor,
    heartbeat_interval: 3600,
    deploy_callback_timeout: 60,
    clean_callback_timeout: 60,
    rescue_callback_timeout: 60,
    inspect_wait_timeout: 60,
    service_callback_timeout: 60,
  },
}

interface Subject {
  readonly each: Recorded
  readonly id: number
  readonly uuid: string
}

/** Makes the nodes of the cases, then starts the conductor anew on what they were left as. */
async function play(
  cases: readonly Recorded[],
  check: (conductor: TestConductor, subjects: Subject[]) => Promise<void>,
) {
  await using stack = new AsyncDisposableStack()
  const db = await openDatabase('sqlite://')
  stack.defer(() => db.close())
  await createSchema(db)
  const first = await startTestConductor({ config, db })
  stack.defer(() => first.running.stop({ timeout: 0 }))
  const subjects: Subject[] = []
  for (const each of cases) {
    const { driver = 'fake-hardware', ...fields } = each.node ?? {}
    const { id, uuid } = await createTestNode(first, fields)
    const instance = each.row.instance_uuid === undefined ? {} : { instance_uuid: crypto.randomUUID() }
    await writeRow(first, id, { ...each.row, ...instance, driver })
    subjects.push({ each, id, uuid: uuid! })
  }
  await putConductors(first)
  const conductor = stack.use(await first.restart({ crash: true }))
  await conductor.settled()
  await check(conductor, subjects)
}

/** The other conductors of the recordings. */
async function putConductors({ db }: TestConductor): Promise<void> {
  const now = new Date()
  const text = (ago: number) => new Date(now.getTime() - ago).toISOString().replace('T', ' ').replace('Z', '000')
  const rows = [
    ['dead-1', 0, 7_200_000],
    ['gone-1', 0, 0],
    ['stale-1', 1, 7_200_000],
    ['alive-1', 1, 0],
  ] as const
  await db.sql
    .insertInto('conductors')
    .values(
      rows.map(([hostname, online, ago]) => ({
        hostname,
        online,
        drivers: '["other"]',
        version: null,
        created_at: text(ago),
        updated_at: text(ago),
      })),
    )
    .execute()
}

async function compare(conductor: TestConductor, { each, id, uuid }: Subject): Promise<void> {
  const told = conductor.notifications.filter(({ source }) => source['uuid'] === uuid).map(notificationInWords)
  assert.deepEqual(told, ofConductor(each.notifications), `${each.name}: notifications`)
  assert.deepEqual(await historyInWords(conductor, id, 0), each.history, `${each.name}: history`)
  const row: Record<string, unknown> = { ...rowInWords(await conductor.node(uuid)) }
  // two rows cannot carry the same instance
  if (each.final.instance_uuid !== null) row['instance_uuid'] = each.final.instance_uuid
  for (const [field, value] of Object.entries(each.final)) {
    if (field !== 'last_error_kept') assert.deepEqual(row[field], value, `${each.name}: ${field}`)
  }
}

describe('start-up', () => {
  const cases = startup.cases.filter(({ kind, name }: Recorded) => kind === 'start' && !name.startsWith('limit-of-8'))
  test(`${cases.length} rows`, () =>
    play(cases, async (conductor, subjects) => {
      for (const subject of subjects) await compare(conductor, subject)
    }))

  // the original stops after eight of each state and leaves the others stuck until its next start
  const many = startup.cases.filter(({ name }: Recorded) => name.startsWith('limit-of-8'))
  test('no row is left in a state that nothing goes on with, however many there are', () =>
    play([...many, ...many], async (conductor, subjects) => {
      for (const { uuid } of subjects) assert.match((await conductor.node(uuid)).provision_state!, /failed$/)
    }))
})

describe('orphans', () => {
  const cases = startup.cases.filter(({ kind }: Recorded) => kind === 'orphans')
  test(`${cases.length} rows`, () =>
    play(cases, async (conductor, subjects) => {
      await orphanNodes(conductor.running.parts.config).run(conductor.running.parts)
      await conductor.settled()
      for (const subject of subjects) {
        if (doesBetter(subject.each)) await repaired(conductor, subject)
        else await compare(conductor, subject)
      }
    }))

  /** Real Ironic repairs two of the states only, never in maintenance, and knows no conductor whose entry is gone. */
  const doesBetter = ({ row }: Recorded) =>
    row.reservation === 'never-1' ||
    (['dead-1', 'gone-1'].includes(row.reservation) && STUCK_STATES_TREATED_AS_FAIL.has(row.provision_state))
  async function repaired(conductor: TestConductor, { each, uuid }: Subject): Promise<void> {
    const node = await conductor.node(uuid)
    assert.equal(node.reservation, null, each.name)
    assert.equal(node.target_power_state, null, each.name)
    assert.ok(!STUCK_STATES_TREATED_AS_FAIL.has(node.provision_state), `${each.name}: ${node.provision_state}`)
    if (STUCK_STATES_TREATED_AS_FAIL.has(each.row.provision_state)) assert.notEqual(node.last_error, null, each.name)
  }
})

describe('time-outs', () => {
  test(`${timeouts.cases.length} rows`, () =>
    play(timeouts.cases, async (conductor, subjects) => {
      const { parts } = conductor.running
      for (const task of waitTimeouts(parts.config)) await task.run(parts)
      await conductor.settled()
      for (const subject of subjects) await compare(conductor, subject)
    }))
})
