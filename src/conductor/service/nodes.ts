import { getAllocationById, destroyAllocation } from '../../db/allocations.ts'
import { createNode, destroyNode, getNode, type NodeValues } from '../../db/nodes.ts'
import { dropInternal, internalInfo, setInternal } from '../../domain/internal-info.ts'
import { interfaceTypes } from '../../domain/interfaces.ts'
import { DELETE_ALLOWED_STATES } from '../../domain/states.ts'
import { agentTokenPresent, newAgentToken } from '../../agent/token.ts'
import { interfaceField, type InterfaceField } from '../../drivers/factory.ts'
import { AllocationNotFound } from '../../errors/allocation.ts'
import { InvalidParameterValue, InvalidState } from '../../errors/base.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import { NodeAssociated, NodeProtected } from '../../errors/node.ts'
import type { Node } from '../../objects/index.ts'
import type { WithChanges } from '../../objects/versioned-object.ts'
import type { InterfaceValidation } from '../../rpc/conductor.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { stopConsole } from '../flows/console.ts'
import { checkInstanceTraits, noteImageType } from '../flows/deploy.ts'
import { messageOf } from '../power-action.ts'
import { checkDeploySteps } from '../steps.ts'
import type { Methods, ServiceParts } from './parts.ts'

/** States in which what decides on deploys may be changed. */
const changeable: readonly (string | null)[] = ['enroll', 'inspecting', 'inspect wait', 'manageable', 'available']

export const nodeMethods = (
  parts: ServiceParts,
): Methods<'create_node' | 'update_node' | 'destroy_node' | 'validate_driver_interfaces' | 'get_node_with_token'> => ({
  async create_node(_context, { node_obj: { data } }) {
    const node = { ...data }
    parts.drivers.fillInterfaces(node)
    return createNode(parts.db, insertable(node))
  },

  update_node: (context, { node_obj, reset_interfaces }) =>
    parts.tasks.exclusive(
      context,
      node_obj.data.uuid!,
      'node update',
      (task) => updateNode(task, node_obj, reset_interfaces === true),
      {
        loadDriver: false,
      },
    ),

  destroy_node: (context, { node_id }) =>
    parts.tasks.exclusive(context, node_id, 'node deletion', deleteNode, { loadDriver: false }),

  validate_driver_interfaces: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'driver interface validation', validateInterfaces),

  get_node_with_token: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'token generation', async (task) => {
      if (agentTokenPresent(task.node)) {
        task.log.warning(`Node ${node_id} has an agent token already, so no new one is given out`)
        return {
          ...task.node,
          driver_internal_info: { ...task.node.driver_internal_info, agent_secret_token: '******' },
        }
      }
      await task.upgradeLock('token generation', { retry: false })
      // somebody else may have been faster
      if (agentTokenPresent(task.node)) {
        return {
          ...task.node,
          driver_internal_info: { ...task.node.driver_internal_info, agent_secret_token: '******' },
        }
      }
      setInternal(task.node, 'agent_secret_token', newAgentToken())
      dropInternal(task.node, ['agent_secret_token_pregenerated'])
      await task.save()
      return getNode(parts.db, node_id)
    }),
})

const insertable = ({ id: _id, traits: _traits, created_at: _c, updated_at: _u, ...values }: Node): NodeValues => values

async function updateNode(
  task: ConductorTask,
  { data, changes }: WithChanges<Node>,
  resetInterfaces: boolean,
): Promise<Node> {
  const { node } = task
  const delta: ReadonlySet<string> = new Set(changes)
  const before = { ...node }
  const next = { ...node }
  for (const field of changes) if (!fixed.has(field)) Object.assign(next, { [field]: data[field] })
  if (delta.has('maintenance') && !next.maintenance) Object.assign(next, { maintenance_reason: null, fault: null })
  checkProtected(next, delta)
  checkRetired(next, delta)
  changeInterfaces(task, before, next, delta, resetInterfaces)
  await checkInstance(task, before, next, delta)
  Object.assign(node, next)
  await task.save()
  return { ...node, reservation: null }
}

const fixed: ReadonlySet<string> = new Set(['id', 'uuid', 'traits', 'reservation', 'created_at', 'updated_at'])

function checkProtected(node: Node, delta: ReadonlySet<string>): void {
  if (delta.has('protected')) {
    if (!node.protected) node.protected_reason = null
    else if (node.provision_state !== 'active' && node.provision_state !== 'rescue') {
      throw new InvalidState(
        `Node ${node.uuid} can be protected in the states active and rescue only; it is in ${node.provision_state}.`,
      )
    }
  }
  if (delta.has('protected_reason') && node.protected_reason && !node.protected) {
    throw new InvalidParameterValue('protected_reason can be set only together with protected being true.')
  }
}

function checkRetired(node: Node, delta: ReadonlySet<string>): void {
  if (delta.has('retired')) {
    if (!node.retired) node.retired_reason = null
    else if (node.provision_state === 'available') {
      throw new InvalidState(
        `Node ${node.uuid} cannot be retired in the state available; bring it to manageable first.`,
      )
    }
  }
  if (delta.has('retired_reason') && node.retired_reason && !node.retired) {
    throw new InvalidParameterValue('retired_reason can be set only together with retired being true.')
  }
}

function changeInterfaces(
  task: ConductorTask,
  before: Node,
  next: Node,
  delta: ReadonlySet<string>,
  resetInterfaces: boolean,
): void {
  const newDriver = delta.has('driver')
  let check = newDriver
  for (const field of interfaceTypes.map(interfaceField)) {
    if (delta.has(field)) {
      needChangeable(before, next, field)
      check = true
    } else if (newDriver && resetInterfaces) next[field] = null
  }
  if (check) task.tasks.parts.drivers.fillInterfaces(next)
  if (delta.has('deploy_interface') || (newDriver && resetInterfaces)) {
    next.driver_internal_info = { ...internalInfo(next) }
    dropInternal(next, ['original_deploy_interface'])
  }
}

function needChangeable(before: Node, next: Node, field: InterfaceField | 'resource_class'): void {
  const maintenance = field !== 'resource_class' && next.maintenance
  if (changeable.includes(before.provision_state) || maintenance) return
  const orMaintenance = field === 'resource_class' ? '' : ' or in maintenance'
  throw new InvalidState(
    `${field} of node ${before.uuid} can be changed only in the states ${changeable.join(', ')}${orMaintenance}; it is in ${before.provision_state}.`,
  )
}

async function checkInstance(task: ConductorTask, before: Node, next: Node, delta: ReadonlySet<string>): Promise<void> {
  if (delta.has('instance_uuid') && next.instance_uuid !== null && before.instance_uuid !== null) {
    throw new NodeAssociated({ node: before.uuid, instance: before.instance_uuid })
  }
  if (delta.has('resource_class') && before.resource_class) needChangeable(before, next, 'resource_class')
  if (!delta.has('instance_uuid') || before.allocation_id === null || next.instance_uuid !== null) return
  if (!before.maintenance && !changeable.includes(before.provision_state)) {
    throw new InvalidState(
      `Node ${before.uuid} has an allocation; its instance_uuid can be removed only in the states ${changeable.join(', ')} or in maintenance.`,
    )
  }
  try {
    await getAllocationById(task.db, before.allocation_id)
    await destroyAllocation(task.db, before.allocation_id)
  } catch (error) {
    if (!(error instanceof AllocationNotFound)) throw error
  }
  next.allocation_id = null
}

async function deleteNode(task: ConductorTask): Promise<void> {
  const { node, config } = task
  if (!node.maintenance && node.instance_uuid !== null) {
    throw new NodeAssociated({ node: node.uuid, instance: node.instance_uuid })
  }
  if (node.protected) throw new NodeProtected({ node: node.uuid })
  const allowed = [...DELETE_ALLOWED_STATES, ...(config.conductor.allow_deleting_available_nodes ? ['available'] : [])]
  if (!node.maintenance && !allowed.includes(node.provision_state)) {
    throw new InvalidState(
      `Node ${node.uuid} cannot be deleted in the state ${node.provision_state}; bring it to one of ${allowed.join(', ')}, or put it into maintenance.`,
    )
  }
  if (node.console_enabled) {
    task.loadDriver()
    try {
      await stopConsole(task)
    } catch (error) {
      task.log.error(`The console of node ${node.uuid} could not be stopped while it is deleted: ${messageOf(error)}`)
    }
  }
  await task.tasks.parts.forgetInventory?.(task)
  await destroyNode(task.db, node.id)
  task.released = true
  task.log.info(`Node ${node.uuid} is deleted`)
}

const validated = interfaceTypes.filter((type) => type !== 'vendor')

async function validateInterfaces(task: ConductorTask): Promise<Record<string, InterfaceValidation>> {
  noteImageType(task)
  const results: Record<string, InterfaceValidation> = {}
  for (const type of validated) {
    try {
      await task.driver[type].validate(task)
      if (type === 'deploy') {
        await checkInstanceTraits(task)
        await checkDeploySteps(task, { skipMissing: true })
      }
      results[type] = { result: true }
    } catch (error) {
      if (error instanceof InvalidParameterValue || error instanceof UnsupportedDriverExtension) {
        results[type] = { result: false, reason: error.message }
        continue
      }
      task.log.error(`Validating the ${type} interface of node ${task.node.uuid} failed: ${messageOf(error)}`, {
        error,
      })
      results[type] = {
        result: false,
        reason: `Unexpected failure on conductor ${task.tasks.parts.host}, see its log: ${messageOf(error)}`,
      }
    }
  }
  return results
}
