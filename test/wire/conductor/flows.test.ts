/** Requests on fake hardware, as real Ironic answered them: status, notifications, history and the row that is left. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { getNode } from '../../../src/db/nodes.ts'
import { STUCK_STATES_TREATED_AS_FAIL } from '../../../src/domain/states.ts'
import { interfaceTypes } from '../../../src/domain/interfaces.ts'
import { allInterfaces } from '../../../src/conductor/all-interfaces.ts'
import {
  historyInWords,
  notificationInWords,
  ofConductor,
  rowInWords,
  startService,
  writeRow,
  type Recorded,
  type Service,
} from './workflow.ts'

const { cases }: { cases: Recorded[] } = JSON.parse(
  await readFile(new URL('../../vectors/flows.json', import.meta.url), 'utf8'),
)

describe('flows', async () => {
  for (const each of cases) {
    test(each.name, { skip: missingInterface(each) }, () => (doesBetter(each) ? survive(each) : play(each)))
  }
})

const ownSteps = ['power_on', 'power_off', 'reboot', 'hold', 'wait']
const startsSteps = ['clean', 'active', 'rebuild', 'service']

/**
 * Cases in which real Ironic loses steps that it had accepted, or leaves a flow that was held unfinished; ours runs them. What
 * it does then is told in reserved-steps.test.ts and docs/differences.md.
 */
function doesBetter(each: Recorded): boolean {
  const requests: Recorded[] = each.steps.map(({ request }: Recorded) => request)
  const targets = requests.map(({ body }) => String(body?.target))
  if (targets.includes('unhold')) return true
  if (!targets.some((target) => startsSteps.includes(target))) return false
  const told = JSON.stringify(requests)
  const templates = (each.prerequisites ?? []).filter(({ body }: Recorded) => told.includes(`"${body?.name}"`))
  const all = told + JSON.stringify(templates)
  return all.includes('execute_on_child_nodes') || ownSteps.some((step) => all.includes(`"step":"${step}"`))
}

/** The interface of the case that this release does not have, as the reason to pass it over. */
function missingInterface({ node }: Recorded): string | false {
  const missing = interfaceTypes.find((type) => {
    const name: unknown = node[`${type}_interface`]
    return typeof name === 'string' && !Object.hasOwn(allInterfaces[type], name)
  })
  return missing === undefined ? false : `there is no ${missing} interface ${node[`${missing}_interface`]} yet`
}

const inspectedByAgents = {
  enabled_inspect_interfaces: ['fake', 'no-inspect', ...('agent' in allInterfaces.inspect ? ['agent'] : [])],
}

interface Subject {
  readonly id: number
  readonly uuid: string
  /** the text with the uuids in place of `{node}` and `{child}` */
  readonly named: (text: string) => string
}

async function setUp({ conductor, ask }: Service, each: Recorded): Promise<Subject> {
  for (const { method, path, body } of each.prerequisites ?? []) {
    assert.ok((await ask(method, path, body)).status < 300, `${method} ${path}`)
  }
  const create = async (fields: object, row: object) => {
    const { status, body } = await ask('POST', '/v1/nodes', { driver: 'fake-hardware', ...fields })
    assert.equal(status, 201, JSON.stringify(body))
    const { id } = await conductor.node(body.uuid)
    if (Object.keys(row).length > 0) await writeRow(conductor, id, row)
    return { id, uuid: body.uuid as string }
  }
  const node = await create(each.node, each.row)
  const child = each.child_row === undefined ? undefined : await create({ parent_node: node.uuid }, each.child_row)
  const named = (text: string) => text.replaceAll('{node}', node.uuid).replaceAll('{child}', child?.uuid ?? '')
  return { ...node, named }
}

const send = ({ ask }: Service, { named }: Subject, { method, path, body }: Recorded) =>
  ask(method, named(path), body === undefined ? undefined : JSON.parse(named(JSON.stringify(body))))

/** Whatever the node went through, it is not left in a state that nothing goes on with. */
async function survive(each: Recorded): Promise<void> {
  await using service = await startService({ config: { DEFAULT: inspectedByAgents, ...each.config } })
  const node = await setUp(service, each)
  for (const { request } of each.steps) {
    const { status } = await send(service, node, request)
    assert.ok(status < 500, `${request.method} ${request.path} answers ${status}`)
    await service.conductor.settled()
  }
  const { provision_state: state, reservation } = await service.conductor.node(node.uuid)
  assert.ok(!STUCK_STATES_TREATED_AS_FAIL.has(state), `left in ${state}`)
  assert.equal(reservation, null)
}

async function play(each: Recorded): Promise<void> {
  await using service = await startService({ config: { DEFAULT: inspectedByAgents, ...each.config } })
  const { conductor } = service
  const node = await setUp(service, each)
  let told = 0
  let noted = 0
  for (const { request, status, notifications = [], history = [], final } of each.steps) {
    const answer = await send(service, node, request)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    await conductor.settled()
    const ours = conductor.notifications.slice(told).filter(({ source }) => source['uuid'] === node.uuid)
    told = conductor.notifications.length
    assert.deepEqual(ours.map(notificationInWords), ofConductor(notifications))
    const entries = final === null ? history : await historyInWords(conductor, node.id, noted)
    noted += entries.length
    assert.deepEqual(entries, history)
    if (final === null) await assert.rejects(getNode(conductor.db, node.uuid), { name: 'NodeNotFound' })
    else if (final !== undefined) assert.deepEqual(rowInWords(await conductor.node(node.uuid)), final)
  }
}
