import type { AgentClient, AgentPhase } from '../../agent/client.ts'
import { commandError } from '../../agent/commands.ts'
import { InstanceRescueFailure } from '../../errors/agent.ts'
import { IronicError } from '../../errors/define.ts'
import { NodeLocked } from '../../errors/node.ts'
import type { HeartbeatInfo } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { failDeploy } from './deploy-failure.ts'
import { fastTrackAble, fastTrackEnabled } from './fast-track.ts'
import { internal, internalTime, setInternal } from './internal-info.ts'
import { currentStep, phases } from './phases.ts'
import { withNetworkPower } from './network-power.ts'
import { continueSteps } from './step-progress.ts'
import { hasCachedSteps, refreshSteps } from './step-cache.ts'

/** A heartbeat in these states is noted down and no more. */
const recordOnly: ReadonlySet<string | null> = new Set([
  'enroll',
  'manageable',
  'available',
  'cleaning',
  'deploying',
  'rescuing',
  'deploy hold',
  'clean hold',
  'servicing',
  'service hold',
])
const allowed: ReadonlySet<string | null> = new Set([
  'wait call-back',
  'clean wait',
  'rescue wait',
  'deploying',
  'cleaning',
  'rescuing',
  'deploy hold',
  'clean hold',
  'servicing',
  'service wait',
  'service hold',
])
const allowedInFastTrack: ReadonlySet<string | null> = new Set([...allowed, 'manageable', 'available', 'enroll'])

/** Operations that end when the node is in maintenance and `[conductor]allow_provisioning_in_maintenance` is off. */
const endedByMaintenance: Readonly<Record<string, string>> = {
  cleaning: 'Cleaning',
  'clean wait': 'Cleaning',
  deploying: 'Deploy',
  'wait call-back': 'Deploy',
  rescuing: 'Rescue',
  'rescue wait': 'Rescue',
  servicing: 'Service',
  'service wait': 'Service',
}

/** What a deploy interface adds to the handling. */
export interface HeartbeatParts {
  readonly client: AgentClient
  /** collect the ramdisk's logs when a deploy fails */
  readonly collectDeployLogs: boolean
}

/** Notes a heartbeat down and goes on with the operation that waits for the agent. */
export async function handleHeartbeat(parts: HeartbeatParts, task: Task, info: HeartbeatInfo): Promise<void> {
  const { node, log } = task
  if (!(await isExpected(task))) return
  try {
    await task.upgradeLock('heartbeat')
  } catch (error) {
    if (!(error instanceof NodeLocked)) throw error
    log.warning(`Node ${node.uuid} is locked, its heartbeat is passed over; the next one is looked at`)
    return
  }
  // While the lock was waited for, the operation may have ended: the agent is gone then, and its address means nothing.
  if (!(await isExpected(task))) return
  await record(task, info)
  if (recordOnly.has(task.node.provision_state)) return
  if (task.node.maintenance) {
    await inMaintenance(task)
    return
  }
  const act = actions[task.node.provision_state ?? '']
  if (act !== undefined) await act(parts, task)
}

async function isExpected(task: Task): Promise<boolean> {
  const { node, log } = task
  const states = fastTrackEnabled(node, task.config) ? allowedInFastTrack : allowed
  if (states.has(node.provision_state) || (await fastTrackAble(task))) return true
  log.error(`Heartbeat of node ${node.uuid} in state ${node.provision_state}, where none is expected; nothing is done`)
  return false
}

async function record(task: Task, info: HeartbeatInfo): Promise<void> {
  const heard: Record<string, unknown> = {
    agent_url: info.callbackUrl,
    agent_version: info.agentVersion,
    agent_last_heartbeat: internalTime(task.clock.now()),
  }
  if (info.agentVerifyCa) heard['agent_verify_ca'] = info.agentVerifyCa
  if (info.agentStatus) heard['agent_status'] = info.agentStatus
  if (info.agentStatusMessage) heard['agent_status_message'] = info.agentStatusMessage
  setInternal(task.node, heard)
  await task.save()
}

async function inMaintenance(task: Task): Promise<void> {
  const { node, log } = task
  const operation = endedByMaintenance[node.provision_state ?? '']
  if (operation === undefined || task.config.conductor.allow_provisioning_in_maintenance) {
    log.warning(`Heartbeat of node ${node.uuid}, which is in maintenance; nothing is done`)
    return
  }
  await task.failFlow({ message: `${operation} aborted as node is in maintenance mode` })
}

const actions: Readonly<Record<string, (parts: HeartbeatParts, task: Task) => Promise<void>>> = {
  'wait call-back': deployWaits,
  'clean wait': (parts, task) => stepsWait(parts, task, 'clean'),
  'service wait': (parts, task) => stepsWait(parts, task, 'service'),
  'rescue wait': rescueWaits,
}

/** The wait state's time limit counts from the last sign of life. */
async function touch(task: Task): Promise<void> {
  task.node.provision_updated_at = task.clock.now()
  await task.save()
}

async function deployWaits({ client, collectDeployLogs }: HeartbeatParts, task: Task): Promise<void> {
  const { node } = task
  let doing = 'Failed to load in-band deploy steps'
  try {
    if (!hasCachedSteps(node, 'deploy') && (await refreshSteps(client, task, 'deploy')) === 'busy') return
    await touch(task)
    if (internal(node, phases.deploy.pollingFlag)) return
    doing = 'Failed to process the next deploy step'
    await continueSteps(client, task, 'deploy')
  } catch (error) {
    task.signal.throwIfAborted()
    if (node.provision_state !== 'deploying' && node.provision_state !== 'wait call-back') throw error
    await failDeploy(client, task, `${doing}: ${reasonOf(error)}`, { collectLogs: collectDeployLogs, cause: error })
    if (!(error instanceof IronicError)) throw error
  }
}

async function stepsWait({ client }: HeartbeatParts, task: Task, phase: 'clean' | 'service'): Promise<void> {
  const { node } = task
  const operation = phase === 'clean' ? 'cleaning' : 'service'
  let doing = `Node failed to start the first ${operation} step`
  try {
    await touch(task)
    if (currentStep(node, phase)['step'] === undefined) {
      // the agent has just booted; without its steps the operation must not begin
      if ((await refreshSteps(client, task, phase)) === 'fresh') await task.resumeFlow()
      return
    }
    doing = `Node failed to check ${operation} progress`
    if (!internal(node, phases[phase].pollingFlag)) await continueSteps(client, task, phase)
  } catch (error) {
    task.signal.throwIfAborted()
    await failUnlessEnded(task, waitStates[phase], `${doing}: ${reasonOf(error)}`, error)
  }
}

const waitStates: Readonly<Record<AgentPhase | 'rescue', readonly (string | null)[]>> = {
  clean: ['cleaning', 'clean wait'],
  deploy: ['deploying', 'wait call-back'],
  service: ['servicing', 'service wait'],
  rescue: ['rescuing', 'rescue wait'],
}

async function rescueWaits({ client }: HeartbeatParts, task: Task): Promise<void> {
  try {
    await finalizeRescue(client, task)
  } catch (error) {
    task.signal.throwIfAborted()
    await failUnlessEnded(task, waitStates.rescue, `Node failed to perform rescue operation: ${reasonOf(error)}`, error)
  }
}

async function finalizeRescue(client: AgentClient, task: Task): Promise<void> {
  const { node } = task
  const failure = (reason: string, cause?: unknown) =>
    new InstanceRescueFailure({ node: node.uuid, instance: node.instance_uuid, reason }, { cause })
  let result
  try {
    result = await client.finalizeRescue(node, task.signal)
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    throw failure(error.message, error)
  }
  if (result.command_status !== 'SUCCEEDED') {
    throw failure(`the agent could not set the rescue password: ${commandError(result)}`)
  }
  await task.fire('resume')
  await task.driver.rescue.cleanUp(task)
  await withNetworkPower(task, () => task.driver.network.configureTenantNetworks(task))
  await task.fire('done')
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Ends the operation; an error that nobody declared goes on to the border, which logs it with its stack. */
async function failUnlessEnded(
  task: Task,
  states: readonly (string | null)[],
  message: string,
  error: unknown,
): Promise<void> {
  if (states.includes(task.node.provision_state)) await task.failFlow({ message, cause: error })
  if (!(error instanceof IronicError)) throw error
}
