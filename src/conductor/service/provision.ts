import { countNodesInProvisionState } from '../../db/nodes.ts'
import { dropInternal } from '../../domain/internal-info.ts'
import { refuseDisallowed, type UserStep } from '../../domain/step-list.ts'
import { InstanceDeployFailure, InstanceRescueFailure, InstanceUnrescueFailure } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { ConcurrentActionLimit } from '../../errors/conductor.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import { InvalidStateRequested, NodeInMaintenance, NodeIsRetired, NodeProtected } from '../../errors/node.ts'
import { shaCrypt } from '../../lib/crypt/sha-crypt.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { abortableStates, abortOperation } from '../flows/abort.ts'
import { adoptNode } from '../flows/adopt.ts'
import { automatedCleanSteps, cleanNode } from '../flows/clean.ts'
import { continueFlow, unhold } from '../flows/continue.ts'
import { startDeploy } from '../flows/deploy.ts'
import { inspectNode } from '../flows/inspect.ts'
import { wipeAgentSession } from '../flows/leftovers.ts'
import { dropRescuePassword, rescueNode, unrescueNode } from '../flows/rescue.ts'
import { serviceNode } from '../flows/service.ts'
import { cleanFlow, deployFlow, serviceFlow, type StepFlow } from '../flows/step-flows.ts'
import { tearDownNode } from '../flows/tear-down.ts'
import { verifyNode } from '../flows/verify.ts'
import { background, type Background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const provisionMethods = (
  parts: ServiceParts,
): Methods<
  | 'do_node_deploy'
  | 'do_node_tear_down'
  | 'do_node_clean'
  | 'do_node_service'
  | 'do_node_rescue'
  | 'do_node_unrescue'
  | 'inspect_hardware'
  | 'do_provisioning_action'
  | 'continue_node_clean'
  | 'continue_node_deploy'
  | 'continue_node_service'
> => ({
  async do_node_deploy(context, { node_id, rebuild, configdrive, deploy_steps }) {
    await checkLimit(
      parts,
      'provisioning',
      ['deploying', 'wait call-back'],
      parts.config.conductor.max_concurrent_deploy,
    )
    await parts.tasks.background<void>(context, node_id, 'deploy', (task) => {
      const steps = (deploy_steps ?? null) as UserStep[] | null
      refuseDisallowed(steps, 'deploy', task.config.api.disallow_deploy_steps)
      return startDeploy(task, { rebuild: rebuild ?? false, configdrive: configdrive ?? null, steps })
    })
  },

  async do_node_tear_down(context, { node_id }) {
    await checkCleanLimit(parts, 'unprovisioning')
    await parts.tasks.background<void>(context, node_id, 'tear down', async (task) => {
      const { node } = task
      if (node.protected) throw new NodeProtected({ node: node.uuid })
      try {
        await task.driver.power.validate(task)
      } catch (error) {
        if (!(error instanceof InvalidParameterValue)) throw error
        throw new InstanceDeployFailure(`The instance on node ${node.uuid} cannot be deleted: ${error.message}`, {
          cause: error,
        })
      }
      const from = node.provision_state
      needEvent(task, 'delete', 'delete')
      dropInternal(node, ['agent_url'])
      await task.fire('delete', { begins: true })
      return background(() => tearDownNode(task, from))
    })
  },

  async do_node_clean(context, { node_id, clean_steps, disable_ramdisk }) {
    await checkCleanLimit(parts, 'cleaning')
    await parts.tasks.background<void>(context, node_id, 'manual cleaning', async (task) => {
      const steps = (clean_steps ?? []) as UserStep[]
      await readyForSteps(task, 'cleaning', 'clean', steps)
      needEvent(task, 'clean', 'manual clean')
      await task.fire('clean', { begins: true, targetState: 'manageable' })
      return background(() => cleanNode(task, { steps, disableRamdisk: disable_ramdisk ?? false, automated: false }))
    })
  },

  async do_node_service(context, { node_id, service_steps, disable_ramdisk }) {
    await parts.tasks.background<void>(context, node_id, 'servicing', async (task) => {
      const steps = (service_steps ?? []) as unknown as UserStep[]
      await readyForSteps(task, 'service', 'service', steps)
      needEvent(task, 'service', 'service')
      await task.fire('service', { begins: true, targetState: 'active' })
      return background(() => serviceNode(task, steps, disable_ramdisk ?? false))
    })
  },

  async do_node_rescue(context, { node_id, rescue_password }) {
    const hashed = await shaCrypt(rescue_password, parts.config.conductor.rescue_password_hash_algorithm ?? 'sha256')
    await parts.tasks.background<void>(context, node_id, 'rescue', async (task) => {
      const { node, driver } = task
      if (node.maintenance) throw new NodeInMaintenance({ op: 'rescuing', node: node.uuid })
      wipeAgentSession(task)
      node.instance_info = { ...node.instance_info, rescue_password, hashed_rescue_password: hashed }
      try {
        await driver.power.validate(task)
        await driver.rescue.validate(task)
        await driver.network.validate(task)
      } catch (error) {
        dropRescuePassword(node)
        if (!(error instanceof InvalidParameterValue) && !(error instanceof UnsupportedDriverExtension)) throw error
        throw new InstanceRescueFailure(
          { instance: node.instance_uuid, node: node.uuid, reason: error.message },
          { cause: error },
        )
      }
      needEvent(task, 'rescue', 'rescue')
      await task.fire('rescue', { begins: true })
      return background(() => rescueNode(task))
    })
  },

  async do_node_unrescue(context, { node_id }) {
    await parts.tasks.background<void>(context, node_id, 'unrescue', async (task) => {
      const { node } = task
      if (node.maintenance) throw new NodeInMaintenance({ op: 'unrescuing', node: node.uuid })
      try {
        await task.driver.power.validate(task)
      } catch (error) {
        if (!(error instanceof InvalidParameterValue)) throw error
        throw new InstanceUnrescueFailure(
          { instance: node.instance_uuid, node: node.uuid, reason: error.message },
          { cause: error },
        )
      }
      needEvent(task, 'unrescue', 'unrescue')
      dropInternal(node, ['agent_url'])
      await task.fire('unrescue', { begins: true })
      return background(() => unrescueNode(task))
    })
  },

  async inspect_hardware(context, { node_id }) {
    await parts.tasks.background<void>(context, node_id, 'inspection', async (task) => {
      await task.driver.power.validate(task)
      await task.driver.inspect.validate(task)
      needEvent(task, 'inspect', 'inspect')
      await task.fire('inspect', { begins: true })
      return background(() => inspectNode(task))
    })
  },

  async do_provisioning_action(context, { node_id, action }) {
    await parts.tasks.background<void>(context, node_id, `provision action ${action}`, (task) => act(task, action))
  },

  continue_node_clean: (context, { node_id }) => goOn(parts, context, node_id, cleanFlow),
  continue_node_deploy: (context, { node_id }) => goOn(parts, context, node_id, deployFlow),
  continue_node_service: (context, { node_id }) => goOn(parts, context, node_id, serviceFlow),
})

/** The machine must take the event now; else the caller's mistake is told in its own words. @throws InvalidStateRequested */
function needEvent(task: ConductorTask, event: string, action: string): void {
  if (task.takes(event)) return
  throw new InvalidStateRequested({ action, node: task.node.uuid, state: task.node.provision_state })
}

async function readyForSteps(
  task: ConductorTask,
  op: string,
  phase: 'clean' | 'service',
  steps: readonly UserStep[],
): Promise<void> {
  const { node, driver, config } = task
  if (node.maintenance) throw new NodeInMaintenance({ op, node: node.uuid })
  try {
    await driver.power.validate(task)
    await driver.network.validate(task)
  } catch (error) {
    if (!(error instanceof InvalidParameterValue)) throw error
    throw new InvalidParameterValue(`Node ${node.uuid} is not ready for ${op}: ${error.message}`, { cause: error })
  }
  refuseDisallowed(steps, phase, config.api[`disallow_${phase}_steps`])
}

/** The verbs without an RPC method of their own. */
async function act(task: ConductorTask, action: string): Promise<Background | void> {
  const { node, config } = task
  const state = node.provision_state
  if (action === 'provide' && state === 'manageable') {
    if (!config.conductor.allow_provisioning_in_maintenance && node.maintenance) {
      throw new NodeInMaintenance({ op: 'providing', node: node.uuid })
    }
    if (node.retired === true) throw new NodeIsRetired({ op: 'providing', node: node.uuid })
    const request = await automatedCleanSteps(task)
    await task.fire('provide', { begins: true })
    return background(() => cleanNode(task, request))
  }
  if (action === 'manage' && state === 'enroll') {
    await task.fire('manage', { begins: true })
    return background(() => verifyNode(task))
  }
  if (action === 'adopt' && (state === 'manageable' || state === 'adopt failed')) {
    await task.fire('adopt', { begins: true })
    return background(() => adoptNode(task))
  }
  if (action === 'abort' && abortableStates.includes(state)) return abortOperation(task)
  if (action === 'unhold' && task.takes('unhold')) return unhold(task)
  needEvent(task, action, action)
  await task.fire(action)
}

function goOn(
  parts: ServiceParts,
  context: Parameters<ServiceParts['tasks']['background']>[0],
  nodeId: string,
  flow: StepFlow,
): Promise<void> {
  return parts.tasks.background<void>(
    context,
    nodeId,
    `continuing ${flow.called}`,
    async (task) => {
      const state = task.node.provision_state
      // a deploy that never left its running state is an old driver's way
      if (state !== flow.waiting && !(flow === deployFlow && state === flow.running)) {
        throw new InvalidStateRequested({ action: `continue ${flow.phase}`, node: task.node.uuid, state })
      }
      if (state === flow.waiting) await task.fire('resume', { targetState: flow.target(task) })
      return background(() => continueFlow(task, flow))
    },
    { patient: true },
  )
}

/** @throws ConcurrentActionLimit */
async function checkLimit(
  parts: ServiceParts,
  action: string,
  states: readonly string[],
  limit: number,
): Promise<void> {
  const { max_concurrent_per_conductor_group: perGroup, conductor_group: group } = parts.config.conductor
  const count = await countNodesInProvisionState(parts.db, states, perGroup ? group : undefined)
  if (count >= limit) throw new ConcurrentActionLimit({ task_type: action })
}

const checkCleanLimit = (parts: ServiceParts, action: string): Promise<void> =>
  checkLimit(parts, action, ['deleting', 'cleaning', 'clean wait'], parts.config.conductor.max_concurrent_clean)
