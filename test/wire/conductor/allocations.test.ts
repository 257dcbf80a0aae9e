/** Which node an allocation gets, as recorded of real Ironic: candidates, reservation, back-filling, deletion. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { allocate, backfill, candidates } from '../../../src/conductor/allocations/allocate.ts'
import { createTestNode, testContext, type TestConductor } from '../../../src/conductor/for-tests.ts'
import { createAllocation, getAllocationById } from '../../../src/db/allocations.ts'
import { setTraits } from '../../../src/db/traits.ts'
import type { Allocation } from '../../../src/objects/index.ts'
import { startService, writeRow, type Recorded, type Service } from './workflow.ts'

const { about, cases }: { about: Recorded; cases: Recorded[] } = JSON.parse(
  await readFile(new URL('../../vectors/allocations.json', import.meta.url), 'utf8'),
)

/** Nodes by name. */
type Nodes = Map<string, { id: number; uuid: string }>

async function setUp(conductor: TestConductor, each: Recorded): Promise<Nodes> {
  const nodes: Nodes = new Map()
  for (const { traits, parent, driver, ...row } of each.nodes === 'pool' ? about.pool : each.nodes) {
    const parentNode = parent === undefined ? {} : { parent_node: nodes.get(parent)!.uuid }
    const { id, uuid } = await createTestNode(conductor, { name: row.name, ...parentNode })
    // the nodes that were recorded over HTTP did not get the owner that their case names
    const { owner, ...others } = row
    const owned = each.kind === 'http' || owner === undefined ? {} : { owner }
    await writeRow(conductor, id, { ...others, ...owned, ...(driver === undefined ? {} : { driver }) })
    if (traits !== undefined) await setTraits(conductor.db, id, traits)
    nodes.set(row.name, { id, uuid: uuid! })
  }
  return nodes
}

const start = () =>
  startService({ config: { conductor: { node_locked_retry_interval: 0, node_locked_retry_attempts: 2 } } })

async function playInConductor(each: Recorded): Promise<void> {
  await using service = await start()
  const { conductor } = service
  const { tasks } = conductor.running.parts
  const nodes = await setUp(conductor, each)
  const nameOf = (id: number | null) => [...nodes].find(([, node]) => node.id === id)?.[0]
  const { candidate_nodes: wanted, node: _node, ...request } = each.request
  const allocation = await createAllocation(conductor.db, {
    ...request,
    ...(wanted === undefined ? {} : { candidate_nodes: wanted.map((name: string) => nodes.get(name)?.uuid ?? name) }),
    conductor_affinity: conductor.running.row.id,
  })
  const { expect } = each
  if (each.backfill_node !== undefined) {
    const given = backfill(tasks, testContext, allocation, nodes.get(each.backfill_node)!.id)
    if (expect.error === undefined) await given
    else await assert.rejects(given, { name: expect.error })
  } else {
    await checkCandidates(conductor, allocation, expect)
    await allocate(tasks, testContext, allocation)
  }
  const after = await getAllocationById(conductor.db, allocation.id)
  assert.deepEqual([after.state, after.last_error !== null], [expect.state, expect.last_error_set])
  const chosen = nameOf(after.node_id)
  if (expect.chosen_one_of.length === 0) assert.equal(chosen, undefined)
  else assert.ok(expect.chosen_one_of.includes(chosen), `${chosen} was chosen`)
  if (chosen === undefined || expect.instance_info === undefined) return
  const node = await conductor.node(nodes.get(chosen)!.uuid)
  assert.equal(node.instance_uuid === after.uuid, expect.node_instance_uuid_is_allocation_uuid)
  assert.equal(node.allocation_id !== null, expect.node_allocation_id_set)
  assert.deepEqual([node.reservation, node.instance_info], [expect.reservation, expect.instance_info])
}

async function checkCandidates(conductor: TestConductor, allocation: Allocation, expect: Recorded): Promise<void> {
  const { tasks } = conductor.running.parts
  if (expect.eligible.length === 0) {
    await assert.rejects(candidates(tasks, allocation), { name: expect.error })
    return
  }
  const found = (await candidates(tasks, allocation)).map(({ name }) => name)
  assert.deepEqual(found.toSorted(), expect.eligible)
  if (expect.tried_first) assert.equal(found[0], expect.tried_first)
}

async function playOverHttp(each: Recorded): Promise<void> {
  await using service = await start()
  const { conductor, ask } = service
  const nodes = await setUp(conductor, each)
  const named = (value: unknown): Recorded =>
    JSON.parse(
      JSON.stringify(value).replaceAll(/\{(\w+)(\.name)?\}/g, (all: string, name: string, byName?: string) =>
        byName === undefined ? (nodes.get(name)?.uuid ?? all) : name,
      ),
    )
  const answer = await ask('POST', '/v1/allocations', named(each.request), each.microversion)
  const { expect } = each
  if (expect.status === 500) {
    // a back-fill that does not fit is the caller's mistake, or at least no success
    assert.ok(answer.status >= 400)
    return
  }
  assert.equal(answer.status, expect.status, JSON.stringify(answer.body))
  if (expect.allocation === undefined) return
  assert.equal(answer.body.state, expect.first_state)
  await conductor.settled()
  const path = `/v1/allocations/${answer.body.uuid}`
  const { body } = await ask('GET', path)
  const shown = Object.fromEntries(Object.keys(expect.allocation).map((field) => [field, body[field]]))
  assert.deepEqual(shown, named(expect.allocation))
  assert.equal(body.last_error !== null, expect.last_error_set)
  for (const next of each.then ?? []) await goOn(service, nodes, path, next)
}

async function goOn({ conductor, ask }: Service, nodes: Nodes, allocation: string, next: Recorded): Promise<void> {
  const [first] = [...nodes.values()]
  if (next.set !== undefined) {
    await writeRow(conductor, nodes.get(next['row of'])!.id, next.set)
    return
  }
  const path = next.path.replaceAll(/\{(\w+)\}/g, (_all: string, name: string) =>
    name === 'alloc' ? allocation.split('/').at(-1)! : nodes.get(name)!.uuid,
  )
  const { status } = await ask(next.method, path, next.body)
  assert.equal(status, next.status, `${next.method} ${path}`)
  await conductor.settled()
  // recorded while the node was on its way: where it rests is recorded by a later step
  if (next.node !== undefined && !restsIn(next.node.provision_state)) return
  if (next.allocation_status !== undefined) assert.equal((await ask('GET', allocation)).status, next.allocation_status)
  if (next.node === undefined || first === undefined) return
  const node = await conductor.node(first.uuid)
  assert.deepEqual(
    [node.instance_uuid !== null, node.allocation_id !== null],
    [next.node.instance_uuid_set, next.node.allocation_id_set],
  )
}
const restsIn = (state: string) => !['deploying', 'deleting', 'cleaning'].includes(state)

describe('allocations', () => {
  for (const each of cases) {
    test(each.name, () => (each.kind === 'http' ? playOverHttp(each) : playInConductor(each)))
  }
})
