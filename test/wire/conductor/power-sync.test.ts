/** Power synchronisation over six cycles, as recorded of real Ironic with a power interface that does what it is told. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { createTestNode, startTestConductor, type TestConductor } from '../../../src/conductor/for-tests.ts'
import { powerRecovery, powerSync } from '../../../src/conductor/periodic/power-sync.ts'
import type { PowerState } from '../../../src/domain/states.ts'
import { FakePower } from '../../../src/drivers/fake/power.ts'
import { interfaceClasses } from '../../../src/drivers/interface-classes.ts'
import type { Task } from '../../../src/drivers/task.ts'
import { InvalidParameterValue } from '../../../src/errors/base.ts'
import {
  historyInWords,
  notificationInWords,
  ofConductor,
  quiet,
  rowInWords,
  writeRow,
  type Recorded,
} from './workflow.ts'

const { cases }: { cases: Recorded[] } = JSON.parse(
  await readFile(new URL('../../vectors/power-sync.json', import.meta.url), 'utf8'),
)

/** Answers and obeys as the case says. */
function scripted(driver: Recorded, sets: string[], asked: { yes: boolean }) {
  let state: string | null = driver.get_power_state
  return class extends FakePower {
    override validate(): Promise<void> {
      return driver.validate === 'raise' ? Promise.reject(new InvalidParameterValue('as told')) : Promise.resolve()
    }
    override getPowerState(): Promise<PowerState> {
      asked.yes = true
      return state === 'raise' ? Promise.reject(new Error('as told')) : Promise.resolve(state as PowerState)
    }
    override setPowerState(task: Task, target: string): Promise<void> {
      sets.push(target)
      if (driver.set_power_state === 'raise') return Promise.reject(new Error('as told'))
      if (driver.set_power_state === 'obey') {
        state = target
        task.node.power_state = target
      }
      return Promise.resolve()
    }
  }
}

/** What is no state that a machine can be brought to: real Ironic asks for it, ours takes over what the machine says. */
const doesBetter = ({ row }: Recorded) => ![undefined, null, 'power on', 'power off'].includes(row.power_state)

describe('power synchronisation', () => {
  for (const each of cases) {
    const forced = each.force_power_state_during_sync ? 'forced' : 'recorded'
    test(`${each.name}, ${forced}, ${each.power_state_sync_max_retries} retries`, () => play(each))
  }
})

async function play(each: Recorded): Promise<void> {
  const sets: string[] = []
  const asked = { yes: false }
  const interfaces = {
    ...interfaceClasses,
    power: { ...interfaceClasses.power, fake: scripted(each.driver, sets, asked) },
  }
  const { force_power_state_during_sync, power_state_sync_max_retries } = each
  await using first = await startTestConductor({
    interfaces,
    config: {
      DEFAULT: { host: 'cond-1' },
      conductor: {
        ...quiet.conductor,
        power_state_change_timeout: 2,
        force_power_state_during_sync,
        power_state_sync_max_retries,
      },
    },
  })
  const { driver = 'fake-hardware', ...fields } = each.node ?? {}
  const { id, uuid } = await createTestNode(first, fields)
  await writeRow(first, id, { ...each.row, driver })
  await using conductor = await first.restart({ crash: true })
  await conductor.settled()
  const { parts } = conductor.running
  const [sync, recovery] = [powerSync(parts.config), powerRecovery(parts.config)]
  // nobody wrote down after which cycle the recording was read
  let differences: unknown[] = []
  for (let cycle = 0; cycle < 6; cycle++) {
    await sync.run(parts)
    await recovery.run(parts)
    if (doesBetter(each)) {
      assert.ok(!sets.includes(each.row.power_state))
      continue
    }
    differences = await differ(each, conductor, { id, uuid: uuid! }, sets, asked.yes)
    if (differences.length === 0) return
  }
  assert.deepEqual(differences, [])
}

/** What is not as recorded. A recording that was read in the middle of a power change lacks the end of that. */
async function differ(
  each: Recorded,
  conductor: TestConductor,
  { id, uuid }: { id: number; uuid: string },
  sets: readonly string[],
  asked: boolean,
): Promise<unknown[]> {
  const expected = ofConductor(each.notifications)
  const told = conductor.notifications.map(notificationInWords)
  const cut = expected.at(-1)?.type?.endsWith('power_set.start') === true
  const row = rowInWords(await conductor.node(uuid))
  const pairs: [string, unknown, unknown][] = [
    ['driver asked', asked, each.driver_asked],
    ['notifications', cut ? told.slice(0, expected.length) : told, expected],
    ['history', await historyInWords(conductor, id, 0), each.history],
    ['driver sets', sets, each.driver_sets],
    ...Object.entries(each.final)
      .filter(([field]) => field !== 'last_error_kept' && !(cut && field === 'target_power_state'))
      .map(([field, value]): [string, unknown, unknown] => [field, row[field], value]),
  ]
  return pairs.filter(([, ours, theirs]) => !isDeepStrictEqual(ours, theirs))
}
