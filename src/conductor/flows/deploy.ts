import { setInternal } from '../../domain/internal-info.ts'
import type { UserStep } from '../../domain/step-list.ts'
import { AgentConnectionFailed, InstanceDeployFailure } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { BootModeNotAllowed } from '../../errors/driver.ts'
import { InvalidStateRequested, NodeInMaintenance, NodeProtected } from '../../errors/node.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { checkDeploySteps, setDeploySteps, storedSteps } from '../steps.ts'
import { background, type Background } from '../tasks.ts'
import { storeConfigDrive } from './config-drive.ts'
import { failStepFlow } from './fail.ts'
import { wipeLeftovers } from './leftovers.ts'
import { runSteps } from './run.ts'
import { recordFlow } from './step-history.ts'
import { deployFlow } from './step-flows.ts'

export interface DeployRequest {
  readonly rebuild: boolean
  readonly configdrive: string | JsonDict | null
  readonly steps: readonly UserStep[] | null
}

/** Checks the request and begins. @returns the deploy itself */
export async function startDeploy(task: ConductorTask, request: DeployRequest): Promise<Background> {
  const event = request.rebuild ? 'rebuild' : 'deploy'
  checkNode(task, event)
  const { node } = task
  if (request.rebuild) forgetImageParts(task)
  else applyAutomaticLessee(task)
  try {
    noteImageType(task)
    await task.save()
    await task.driver.deploy.switchInterface(task)
    await task.driver.power.validate(task)
    await task.driver.deploy.validate(task)
    await checkInstanceTraits(task)
    await checkDeploySteps(task, { given: request.steps, skipMissing: true })
  } catch (error) {
    if (!(error instanceof InvalidParameterValue)) throw error
    throw new InstanceDeployFailure(`Node ${node.uuid} cannot be deployed: ${error.message}`, {
      cause: error,
      code: error.code,
    })
  }
  await task.fire(event, { begins: true })
  return background(() => deployNode(task, request))
}

/** May the node be deployed at all? */
function checkNode(task: ConductorTask, event: 'deploy' | 'rebuild'): void {
  const { node, config } = task
  if (node.maintenance) throw new NodeInMaintenance({ op: 'provisioning', node: node.uuid })
  if (event === 'rebuild' && node.protected) throw new NodeProtected({ node: node.uuid })
  if (!task.takes(event)) {
    throw new InvalidStateRequested({ action: event, node: node.uuid, state: node.provision_state })
  }
  const mode = String(node.properties?.['boot_mode'] ?? '').toLowerCase()
  if (config.conductor.disallowed_deployment_boot_modes.includes(mode.trim())) {
    throw new BootModeNotAllowed({ mode, op: 'provisioning' })
  }
}

/** A rebuild may come with another image: what belonged to the old one goes. */
function forgetImageParts(task: ConductorTask): void {
  const source: unknown = task.node.instance_info?.['image_source']
  if (!isGlanceImage(source)) return
  const { kernel: _k, ramdisk: _r, boot_iso: _b, original_image_source: _o, ...rest } = task.node.instance_info ?? {}
  task.node.instance_info = rest
}

const isGlanceImage = (source: unknown): boolean =>
  typeof source === 'string' &&
  (source.startsWith('glance://') || /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(source))

/** The project of the instance gets the node as its lessee, when nobody has it. */
function applyAutomaticLessee(task: ConductorTask): void {
  const { node, config } = task
  const { automatic_lessee: enabled, automatic_lessee_source: source } = config.conductor
  if (!enabled) return
  const wanted: unknown =
    source === 'request' ? task.context.project_id : source === 'instance' ? node.instance_info?.['project_id'] : null
  if (typeof wanted !== 'string' || wanted === '') return
  if (node.lessee !== null) {
    task.log.warning(`Node ${node.uuid} keeps its lessee ${node.lessee}; ${wanted} does not become it`)
    return
  }
  setInternal(node, 'automatic_lessee', true)
  node.lessee = wanted
}

/**
 * Notes whether the image is a whole disk or a partition: a partition image comes with a kernel and a ramdisk of its own, or
 * says what it is. A container image is always a whole disk.
 */
export function noteImageType(task: ConductorTask): void {
  const { node } = task
  const info = node.instance_info ?? {}
  const source: unknown = info['image_source']
  if (typeof source !== 'string' || source === '') return
  const whole = info['image_type']
    ? info['image_type'] !== 'partition'
    : source.startsWith('oci://') || (!info['kernel'] && !info['ramdisk'])
  setInternal(node, 'is_whole_disk_image', whole)
  node.instance_info = { ...info, image_type: whole ? 'whole-disk' : 'partition' }
}

/** Traits of the instance must be traits of the node. @throws InvalidParameterValue */
export async function checkInstanceTraits(task: ConductorTask): Promise<void> {
  const wanted: unknown = task.node.instance_info?.['traits']
  if (wanted === undefined || wanted === null || (Array.isArray(wanted) && wanted.length === 0)) return
  if (!Array.isArray(wanted) || !wanted.every((trait) => typeof trait === 'string')) {
    throw new InvalidParameterValue(`traits in instance_info of node ${task.node.uuid} must be a list of texts.`)
  }
  const own = await task.traits()
  const missing = wanted.filter((trait) => !own.includes(trait))
  if (missing.length > 0) {
    throw new InvalidParameterValue(
      `The instance asks for traits that node ${task.node.uuid} does not have: ${missing.join(', ')}.`,
    )
  }
}

/** The deploy, in the state `deploying`. */
async function deployNode(task: ConductorTask, request: DeployRequest): Promise<void> {
  const { node } = task
  const fail = (message: string, cause: unknown, tearDown = false) =>
    failStepFlow(task, deployFlow, { message, cause, tearDown })
  await wipeLeftovers(task, 'deploy')
  if (request.configdrive !== null) {
    try {
      await storeConfigDrive(task, request.configdrive)
    } catch (error) {
      return fail(`The config drive of node ${node.uuid} could not be prepared: ${messageOf(error)}`, error)
    }
  }
  try {
    await task.driver.deploy.prepare(task)
  } catch (error) {
    // fast track: the agent that was said to run is not up yet
    if (error instanceof AgentConnectionFailed) return task.fire('wait')
    return fail(`Node ${node.uuid} could not be prepared for its deploy: ${messageOf(error)}`, error)
  }
  try {
    if (request.steps !== null && request.steps.length > 0) setInternal(node, 'user_deploy_steps', request.steps)
    node.conductor_affinity = task.tasks.parts.conductorId
    await setDeploySteps(task, { skipMissing: true })
  } catch (error) {
    return fail(`The deploy steps of node ${node.uuid} cannot be put together: ${messageOf(error)}`, error, true)
  }
  const steps = storedSteps(task, 'deploy')
  if (steps.length === 0) {
    return fail(`The driver of node ${node.uuid} has no deploy steps, so it cannot be deployed.`, undefined, true)
  }
  await recordFlow(task, deployFlow, steps, 'start')
  await runSteps(task, deployFlow, 0)
}
