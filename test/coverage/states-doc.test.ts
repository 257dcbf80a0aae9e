/** docs/states.md against the machine: each state once, with the verbs that it takes. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { eventsOf, provisionStates } from '../../src/domain/machine.ts'
import { verbs } from '../../src/domain/verbs.ts'

const text = await readFile(new URL('../../docs/states.md', import.meta.url), 'utf8')
const rows = [...text.matchAll(/^\| `([a-z -]+)` \|(.*)\|$/gm)].map(([, state, rest]) => ({
  state: state!,
  rest: rest!,
}))

test('each state stands there once', () => {
  const told = rows.map(({ state }) => state).filter((state) => state in provisionStates)
  assert.deepEqual(told.toSorted(), Object.keys(provisionStates).toSorted())
})

/** States in which the conductor works, so that no verb comes through: the machine's events there are its own. */
const running = new Set([
  'verifying',
  'cleaning',
  'deploying',
  'deleting',
  'inspecting',
  'adopting',
  'rescuing',
  'unrescuing',
  'servicing',
])

test('each state that takes verbs names them all, and no others', () => {
  for (const { state, rest } of rows) {
    if (!(state in provisionStates) || running.has(state)) continue
    const last = rest.split('|').at(-1)!
    const named = [...last.matchAll(/`([a-z]+)`/g)].map(([, word]) => word!).filter((word) => word in verbs)
    const events = eventsOf(state)
    const taken = Object.entries(verbs)
      .filter(([, { event }]) => (events as string[]).includes(event))
      .map(([verb]) => verb)
    const states = new Set(Object.keys(provisionStates))
    assert.deepEqual(
      [...new Set(named.filter((word) => !states.has(word) || taken.includes(word)))].toSorted(),
      taken.toSorted(),
      state,
    )
  }
})
