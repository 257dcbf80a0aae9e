import { getRunbook } from '../../../db/runbooks.ts'
import { stateAfter } from '../../../domain/machine.ts'
import { cleaningInterfacePriority } from '../../../domain/step-priorities.ts'
import { verbs, type Verb } from '../../../domain/verbs.ts'
import {
  BadRequest,
  ClientSideError,
  HTTPForbidden,
  InvalidParameterValue,
  NotAcceptable,
  NotAuthorized,
} from '../../../errors/base.ts'
import { InvalidUuidOrName } from '../../../errors/general.ts'
import { InvalidStateRequested, NodeInMaintenance, NodeLocked } from '../../../errors/node.ts'
import { StepNotAllowed } from '../../../errors/runbook.ts'
import { isBooleanWord } from '../../../lib/text/booleans.ts'
import { isLogicalName } from '../../../lib/text/names.ts'
import { isUuidLike } from '../../../lib/text/uuid.ts'
import type { Node, Runbook } from '../../../objects/index.ts'
import type { ConductorClient } from '../../../rpc/conductor.ts'
import { at, optional, required, route, type AnyCall, type ArgumentsOf } from '../../resource.ts'
import {
  anyOf,
  Dict,
  Flag,
  Integer,
  isMembers,
  List,
  listOf,
  members,
  nullable,
  StrictFlag,
  Text,
  text,
  type Members,
  type Value,
} from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { idOf, statesUrl } from './states.ts'
import { nodeTarget } from './view.ts'
import { visibleNode } from './visible.ts'

const StepInterface = text({ oneOf: Object.keys(cleaningInterfacePriority) })
const StepName = text({ min: 1 })
/** A number of at least zero, or its digits as text. */
const Count = anyOf<number | string>(
  {
    ...Integer,
    schema: { type: 'integer', minimum: 0 },
    read: (name, value) =>
      (Number.isInteger(value) && (value as number) >= 0 ? value : Text.read(name, undefined)) as number,
  },
  text({ pattern: /^[0-9]+$/ }),
)

/** Steps of cleaning and of service. */
const FlowSteps = listOf(
  members(
    {
      interface: StepInterface,
      step: StepName,
      args: Dict,
      order: Count,
      execute_on_child_nodes: StrictFlag,
      limit_child_node_execution: List,
    },
    { optional: ['args', 'order', 'execute_on_child_nodes', 'limit_child_node_execution'] },
  ),
)
/** A deploy step of a request or a template. */
export const DeployStep = members({ interface: StepInterface, step: StepName, args: Dict, priority: Count })
export const RunbookStep = members(
  { interface: StepInterface, step: StepName, args: Dict, order: Count },
  { optional: ['args'] },
)
const DeploySteps = listOf(DeployStep)

const ConfigDrive = nullable(anyOf<string | Members>(Text as Value<string | Members>, Dict as Value<string | Members>))
const ConfigDriveParts = members(
  { meta_data: Dict, network_data: Dict, user_data: nullable(anyOf<unknown>(Dict, List, Text)), vendor_data: Dict },
  { optional: ['meta_data', 'network_data', 'user_data', 'vendor_data'] },
)

const args = {
  target: required(Text),
  configdrive: optional(ConfigDrive),
  clean_steps: optional(List),
  deploy_steps: optional(List),
  service_steps: optional(List),
  rescue_password: optional(Text),
  disable_ramdisk: optional(Flag),
  runbook: optional(Text),
}
type Args = ArgumentsOf<typeof args>

/** What a request asks for once its runbook is looked up. */
interface Wanted {
  readonly target: string
  readonly configdrive: string | Members | null
  readonly cleanSteps: unknown[] | undefined
  readonly deploySteps: unknown[] | undefined
  readonly serviceSteps: unknown[] | undefined
  readonly rescuePassword: string | undefined
  readonly disableRamdisk: boolean | undefined
}

const youngerThan = (minor: number, since: number, what: string): void => {
  if (minor < since) throw new NotAcceptable(`${what} needs API version 1.${since} or newer.`)
}

/** Single steps may have a rule of their own. @throws NotAuthorized naming all steps that are refused */
export function authorizeSteps(call: AnyCall, steps: readonly unknown[], node?: Node): void {
  const refused: string[] = []
  for (const step of steps) {
    if (!isMembers(step) || typeof step['interface'] !== 'string' || typeof step['step'] !== 'string') continue
    const name = `${step['interface']}.${step['step']}`
    const rule = `baremetal:step:execute:${name}`
    if (!call.api.policy.knows(rule)) continue
    try {
      call.api.policy.authorize(call.context, rule, node === undefined ? {} : nodeTarget(node))
    } catch (error) {
      if (!(error instanceof HTTPForbidden)) throw error
      refused.push(`insufficient privileges to execute step ${name}`)
    }
  }
  if (refused.length > 0) throw new NotAuthorized(refused.join('; '))
}

/** The transition must be one that the state takes. @throws NodeLocked, InvalidStateRequested */
function checkTransition(node: Node, target: string): void {
  const event = Object.hasOwn(verbs, target) ? verbs[target as Verb].event : target
  if (stateAfter(node.provision_state, event) !== undefined && !machineEvents.has(event)) return
  // clients of a node that is being worked on expect to be told so
  if (node.reservation !== null) throw new NodeLocked({ node: node.uuid, host: node.reservation })
  throw new InvalidStateRequested({ action: target, node: node.uuid, state: node.provision_state })
}
/** Events that only the conductor fires. */
const machineEvents: ReadonlySet<string> = new Set(['done', 'fail', 'wait', 'resume', 'hold'])

const base64 = /^[A-Za-z0-9+/=\s]*$/

/** @throws ClientSideError */
function checkConfigDrive(target: string, configdrive: string | Members | null | undefined, minor: number): void {
  if (!configdrive || (isMembers(configdrive) && Object.keys(configdrive).length === 0)) return
  const targets = ['active', ...(minor >= 35 ? ['rebuild'] : [])]
  if (!targets.includes(target)) {
    throw new ClientSideError(
      `Adding a config drive is only supported when setting provision state to ${targets.join(', ')}`,
    )
  }
  if (typeof configdrive === 'string') {
    // a colon is no base64 character: this is a URL
    if (configdrive.includes('://') || base64.test(configdrive)) return
    throw new ClientSideError('Invalid configdrive format: it is neither a JSON, nor a URL, nor a base64 string')
  }
  try {
    ConfigDriveParts.read('configdrive', configdrive)
  } catch (cause) {
    if (!(cause instanceof InvalidParameterValue)) throw cause
    throw new ClientSideError(`Invalid configdrive format: ${cause.message}`, { cause })
  }
  if (minor < 56)
    throw new ClientSideError('A JSON object as the configdrive is only supported starting with API version 1.56')
  if ('vendor_data' in configdrive && minor < 59) {
    throw new ClientSideError('vendor_data in the configdrive is only supported starting with API version 1.59')
  }
}

interface RunbookSteps {
  readonly steps: Members[]
  readonly disableRamdisk: boolean
}

/** Steps of a runbook in the form of a request's. */
const stepsOf = (runbook: Runbook): Members[] =>
  (runbook.steps ?? []).map(({ interface: type, step, args: stepArgs, order }) => ({
    interface: type as unknown,
    step: step as unknown,
    args: stepArgs as unknown,
    order: order as unknown,
  }))

async function runbookNamed(call: AnyCall, ident: string): Promise<Runbook> {
  if (!isUuidLike(ident) && !isLogicalName(ident)) throw new InvalidUuidOrName({ name: ident })
  const runbook = await getRunbook(call.api.db, ident)
  call.api.policy.authorize(call.context, 'baremetal:runbook:use', { 'runbook.owner': runbook.owner ?? null })
  return runbook
}

/** A runbook is for nodes that carry one of its traits; below 1.112 the trait is its name. */
function checkApproval(runbook: Runbook, node: Node, minor: number): void {
  const nodeTraits = new Set((node.traits ?? []).map((each) => each['trait'] as string))
  const wanted = minor >= 112 ? ((runbook.traits as string[] | null) ?? []) : [runbook.name ?? '']
  if (wanted.length === 0) {
    throw new ClientSideError(
      `Runbook ${runbook.uuid} has no traits configured. Please ask an administrator to add traits to the runbook.`,
    )
  }
  if (!wanted.some((trait) => nodeTraits.has(trait))) {
    throw new ClientSideError(
      `This runbook has not been approved for use on this node ${node.uuid}. Please ask an administrator to add one of its traits to the node.`,
    )
  }
}

async function runbookSteps(call: AnyCall, node: Node, ident: string): Promise<RunbookSteps> {
  youngerThan(call.minor, 92, 'A runbook')
  const runbook = await runbookNamed(call, ident)
  checkApproval(runbook, node, call.minor)
  const steps = stepsOf(runbook)
  // without an owner, or public, it was approved by an administrator as a whole
  if (runbook.owner !== null && !runbook.public) authorizeSteps(call, steps, node)
  return { steps, disableRamdisk: runbook.disable_ramdisk ?? false }
}

async function wantedOf(call: AnyCall, node: Node, given: Args): Promise<Wanted> {
  const wanted: Wanted = {
    target: given.target,
    configdrive: given.configdrive ?? null,
    cleanSteps: given.clean_steps,
    deploySteps: given.deploy_steps,
    serviceSteps: given.service_steps,
    rescuePassword: given.rescue_password,
    disableRamdisk: given.disable_ramdisk,
  }
  if (!given.runbook) return wanted
  const { steps, disableRamdisk } = await runbookSteps(call, node, given.runbook)
  const kind = given.target === 'clean' ? 'clean_steps' : given.target === 'service' ? 'service_steps' : undefined
  if (kind !== undefined && given[kind] !== undefined && given[kind].length > 0) {
    throw new ClientSideError(`Please provide either "${kind}" or a runbook, but not both.`)
  }
  return {
    ...wanted,
    disableRamdisk,
    ...(kind === 'clean_steps' ? { cleanSteps: steps } : kind === 'service_steps' ? { serviceSteps: steps } : {}),
  }
}

const isGiven = (steps: readonly unknown[] | undefined): boolean => steps !== undefined && steps.length > 0

/** Parameters that belong to another verb, or are younger than the request. */
function checkParameters(wanted: Wanted, node: Node, minor: number): void {
  const { target } = wanted
  if (wanted.disableRamdisk !== undefined) {
    if (target !== 'clean' && target !== 'service') {
      throw new BadRequest('disable_ramdisk is supported only with manual cleaning or servicing')
    }
    youngerThan(minor, target === 'clean' ? 70 : 108, 'disable_ramdisk')
  }
  const only = (given: boolean, name: string, ...targets: string[]): void => {
    if (given && !targets.includes(target)) {
      throw new ClientSideError(
        `"${name}" is only valid when setting target provision state to ${targets.join(' or ')}`,
      )
    }
  }
  only(isGiven(wanted.cleanSteps), 'clean_steps', 'clean')
  if (isGiven(wanted.deploySteps)) youngerThan(minor, 69, 'deploy_steps')
  only(isGiven(wanted.deploySteps), 'deploy_steps', 'active', 'rebuild')
  only(wanted.rescuePassword !== undefined, 'rescue_password', 'rescue')
  if (target === 'abort') {
    if (node.provision_state === 'inspect wait') youngerThan(minor, 41, 'Aborting an inspection')
    if (node.provision_state === 'wait call-back') youngerThan(minor, 110, 'Aborting a deployment')
  }
  only(isGiven(wanted.serviceSteps), 'service_steps', 'service')
}

/** @throws InvalidParameterValue, StepNotAllowed, NodeNotFound */
async function checkedSteps(
  call: AnyCall,
  steps: unknown[],
  phase: 'clean' | 'deploy' | 'service',
): Promise<Members[]> {
  const checkedList: Members[] = (phase === 'deploy' ? DeploySteps : FlowSteps).read(`${phase}_steps`, steps)
  for (const step of checkedList) await checkChildren(call, step)
  const disallowed = call.api.config.api[`disallow_${phase}_steps`]
  const refused = checkedList
    .map((step) => `${step['interface']}.${step['step']}`)
    .find((id) => disallowed.includes(id))
  if (refused !== undefined) throw new StepNotAllowed({ step: refused, step_type: phase })
  return checkedList
}

async function checkChildren(call: AnyCall, step: Members): Promise<void> {
  const children: unknown = step['limit_child_node_execution']
  const onChildren: unknown = step['execute_on_child_nodes']
  if (!onChildren) return
  if (!Array.isArray(children)) {
    if (isBooleanWord(onChildren)) return
    throw new InvalidParameterValue(`execute_on_child_nodes of step ${step['step']} must be a boolean.`)
  }
  for (const child of children as unknown[]) {
    if (!isUuidLike(child)) {
      throw new InvalidParameterValue(`limit_child_node_execution of step ${step['step']} must list UUIDs of nodes.`)
    }
    await visibleNode(call, 'baremetal:node:set_provision_state', { ident: child })
  }
}

const demand = (steps: unknown[] | undefined, name: string, verb: string): unknown[] => {
  if (isGiven(steps)) return steps!
  throw new ClientSideError(`"${name}" is required when setting target provision state to ${verb}`)
}

/** One way to hand a verb over to the conductor. */
type Act = (call: AnyCall, conductor: ConductorClient, node: Node, wanted: Wanted) => Promise<void>

const act: Act = (call, conductor, node, { target }) =>
  conductor.do_provisioning_action(call.context, { ...idOf(node), action: target })

const deploy: Act = async (call, conductor, node, { target, deploySteps, configdrive }) => {
  const steps = isGiven(deploySteps) ? await checkedSteps(call, deploySteps!, 'deploy') : null
  await conductor.do_node_deploy(call.context, {
    ...idOf(node),
    rebuild: target === 'rebuild',
    configdrive,
    deploy_steps: steps,
  })
}
const tearDown: Act = (call, conductor, node) => conductor.do_node_tear_down(call.context, idOf(node))

const acts: Readonly<Record<Verb, Act>> = {
  active: deploy,
  deploy,
  rebuild: deploy,
  deleted: tearDown,
  undeploy: tearDown,
  manage: act,
  provide: act,
  adopt: act,
  abort: act,
  unhold: act,
  inspect: (call, conductor, node) => conductor.inspect_hardware(call.context, idOf(node)),
  clean: async (call, conductor, node, { cleanSteps, disableRamdisk }) => {
    const clean_steps = await checkedSteps(call, demand(cleanSteps, 'clean_steps', 'clean'), 'clean')
    await conductor.do_node_clean(call.context, { ...idOf(node), clean_steps, disable_ramdisk: disableRamdisk ?? null })
  },
  service: async (call, conductor, node, { serviceSteps, disableRamdisk }) => {
    const service_steps = await checkedSteps(call, demand(serviceSteps, 'service_steps', 'service'), 'service')
    await conductor.do_node_service(call.context, {
      ...idOf(node),
      service_steps,
      disable_ramdisk: disableRamdisk ?? null,
    })
  },
  rescue: (call, conductor, node, { rescuePassword }) => {
    if (!rescuePassword?.trim()) {
      throw new ClientSideError(
        'A non-empty "rescue_password" is required when setting target provision state to rescue',
      )
    }
    return conductor.do_node_rescue(call.context, { ...idOf(node), rescue_password: rescuePassword })
  },
  unrescue: (call, conductor, node) => conductor.do_node_unrescue(call.context, idOf(node)),
}

/** Verbs whose version is asked for before the state is: the others are told that their state is wrong first. */
const checkedLate: ReadonlySet<string> = new Set(['unhold', 'service'])

const setProvisionState = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/provision',
  action: true,
  status: 202,
  policy: [
    'baremetal:node:get',
    'baremetal:node:set_provision_state',
    'baremetal:node:set_provision_state:clean_steps',
    'baremetal:node:set_provision_state:service_steps',
    'baremetal:runbook:use',
  ],
  asks: 'handler',
  args,
  async handler(call) {
    const given = call.args
    const { target } = given
    const node = await visibleNode(call, 'baremetal:node:set_provision_state')
    const since = Object.hasOwn(verbs, target) ? verbs[target as Verb].since : 1
    if (!checkedLate.has(target)) youngerThan(call.minor, since, `The verb "${target}"`)
    if (!given.runbook) authorizeOwnSteps(call, node, given)
    if ((target === 'active' || target === 'rebuild') && node.maintenance) {
      throw new NodeInMaintenance({ op: 'provisioning', node: node.uuid })
    }
    checkTransition(node, target)
    checkConfigDrive(target, given.configdrive, call.minor)
    const wanted = await wantedOf(call, node, given)
    checkParameters(wanted, node, call.minor)
    youngerThan(call.minor, since, `The verb "${target}"`)
    const conductor = await conductorOf(call, node)
    const run = Object.hasOwn(acts, target) ? acts[target as Verb] : undefined
    if (run === undefined) {
      throw new InvalidStateRequested(`The requested action "${target.slice(0, 64)}" could not be understood.`)
    }
    await run(call, conductor, node, wanted)
    return at(statesUrl(call))
  },
})

function authorizeOwnSteps(call: AnyCall, node: Node, given: Args): void {
  for (const kind of ['clean_steps', 'service_steps'] as const) {
    if (isGiven(given[kind])) {
      call.api.policy.authorize(call.context, `baremetal:node:set_provision_state:${kind}`, nodeTarget(node))
    }
  }
  authorizeSteps(
    call,
    [...(given.deploy_steps ?? []), ...(given.clean_steps ?? []), ...(given.service_steps ?? [])],
    node,
  )
}

export const nodeProvisionRoutes = [setProvisionState]
