import { isDeepStrictEqual } from 'node:util'
import { getAllocationById } from '../../../db/allocations.ts'
import { getChassisById } from '../../../db/chassis.ts'
import { UPDATE_ALLOWED_STATES } from '../../../domain/states.ts'
import { networkDataProblem } from '../../../domain/network-data.ts'
import { interfaceTypes } from '../../../domain/interfaces.ts'
import { AllocationNotFound } from '../../../errors/allocation.ts'
import { ClientSideError, HTTPForbidden, Invalid, NotAcceptable } from '../../../errors/base.ts'
import { ChassisNotFound } from '../../../errors/chassis.ts'
import { copy, type PatchOperation } from '../../../lib/json-patch/apply.ts'
import { readBoolean } from '../../../lib/text/booleans.ts'
import type { Node } from '../../../objects/node.ts'
import { announced } from '../../announce.ts'
import { PatchBody, patched, patchedFields, patchValues, readPatched, updatable } from '../../bodies.ts'
import { isOpen, jsonText, optional, route, type AnyCall, type Field } from '../../resource.ts'
import { Flag, shortly, type Members } from '../../values.ts'
import { conductorOf, keeperOf } from './conductor-of.ts'
import { nodeFields } from './fields.ts'
import { chassisNamed, chassisOf, checkBootMode, checkName, linkableNode } from './rules.ts'
import { nodeView, nodeTarget, nodeText } from './view.ts'
import { visibleNode } from './visible.ts'

const fields: Readonly<Record<string, Field>> = nodeFields
const allowed = updatable(nodeFields)
/** A patched node is looked at as a whole: also what only POST takes. */
const checkedFields = new Set(
  Object.entries(fields).flatMap(([name, field]) => (field.create || field.update ? [name] : [])),
)

/** The rule for a path; the first that the path begins with. */
const rulesByPath = [
  ['/instance_info', 'baremetal:node:update_instance_info'],
  ['/extra', 'baremetal:node:update_extra'],
  ['/driver_info', 'baremetal:node:update:driver_info'],
  ['/properties', 'baremetal:node:update:properties'],
  ['/chassis_uuid', 'baremetal:node:update:chassis_uuid'],
  ['/instance_uuid', 'baremetal:node:update:instance_uuid'],
  ['/instance_name', 'baremetal:node:update_instance_info'],
  ['/lessee', 'baremetal:node:update:lessee'],
  ['/owner', 'baremetal:node:update:owner'],
  ['/driver', 'baremetal:node:update:driver_interfaces'],
  ['/network_data', 'baremetal:node:update:network_data'],
  ['/conductor_group', 'baremetal:node:update:conductor_group'],
  ['/name', 'baremetal:node:update:name'],
  ['/retired', 'baremetal:node:update:retired'],
  ['/shard', 'baremetal:node:update:shard'],
  ['/parent_node', 'baremetal:node:update:parent_node'],
  ['/disable_power_off', 'baremetal:node:update:disable_power_off'],
] as const
const interfaceFields = new Set(interfaceTypes.map((type) => `/${type}_interface`))

const generalRule = 'baremetal:node:update'

/** Every operation needs the rule of its path. */
function rulesOf(patch: readonly PatchOperation[]): string[] {
  const rules = new Set<string>()
  for (const operation of patch) {
    const { path } = operation
    const byPath = rulesByPath.find(([prefix]) => path.startsWith(prefix))
    if (byPath !== undefined) rules.add(byPath[1])
    else if (interfaceFields.has(path)) rules.add('baremetal:node:update:driver_interfaces')
    else if (path.startsWith('/automated_clean') && readBoolean(operation.value) === false) {
      rules.add('baremetal:node:disable_cleaning')
    } else if (path === '/maintenance') {
      // the rules of its own endpoint hold here too: a patch is no way around them
      rules.add(generalRule)
      const on = operation.op !== 'remove' && readBoolean(operation.value) === true
      rules.add(on ? 'baremetal:node:set_maintenance' : 'baremetal:node:clear_maintenance')
    } else rules.add(generalRule)
  }
  return rules.size === 0 ? [generalRule] : [...rules]
}

/** What can be refused before the node is known. */
function checkPatch(call: AnyCall, patch: readonly PatchOperation[], resetInterfaces: boolean | undefined): void {
  for (const capabilities of patchValues(patch, '/properties/capabilities')) {
    checkBootMode(capabilities, call.api.config.api.disallowed_enrollment_boot_modes)
  }
  patchedFields(patch, allowed, call.minor)
  for (const { op, path } of patch) {
    const name = path.slice(1)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined && op !== 'remove' && !isOpen(field, call.minor)) {
      throw new NotAcceptable(`The field ${name} needs API version 1.${field.since} or newer.`)
    }
  }
  if (resetInterfaces === true && patchValues(patch, '/driver').length === 0) {
    throw new Invalid("The reset_interfaces parameter can only be used when changing the node's driver.")
  }
  for (const networkData of patchValues(patch, '/network_data')) {
    const problem = networkDataProblem(networkData)
    if (problem !== null) throw new Invalid(`Invalid network_data: ${problem}`)
  }
}

async function chassisUuidOf(call: AnyCall, node: Node): Promise<string | null> {
  if (node.chassis_id === null) return null
  try {
    return (await getChassisById(call.api.db, node.chassis_id)).uuid
  } catch (error) {
    // removed a moment ago: then the node has none
    if (error instanceof ChassisNotFound) return null
    throw error
  }
}

const conflict = (sentence: string): ClientSideError => new ClientSideError(sentence, { code: 409 })
type ClientSideError = InstanceType<typeof ClientSideError>

/** Nodes on their way from state to state are left alone, with few exceptions. @throws ClientSideError 409 */
async function checkState(call: AnyCall, node: Node, patch: readonly PatchOperation[]): Promise<void> {
  const onlyUnassigns = patch.length === 1 && patch[0]!.op === 'remove' && patch[0]!.path === '/instance_uuid'
  if (node.maintenance && onlyUnassigns) return
  if (node.target_provision_state && !UPDATE_ALLOWED_STATES.has(node.provision_state)) {
    throw conflict(
      `Node ${node.uuid} can not be updated while a state transition is in progress (${node.provision_state}).`,
    )
  }
  if (node.provision_state === 'inspecting' && call.minor >= 39) {
    throw conflict(`Cannot update node "${node.uuid}" while it is in state "inspecting".`)
  }
  if (patchValues(patch, '/owner').length > 0) await checkOwnerChange(call, node)
}

async function checkOwnerChange(call: AnyCall, node: Node): Promise<void> {
  if (node.provision_state === 'active') {
    try {
      call.api.policy.authorize(call.context, 'baremetal:node:update_owner_provisioned', nodeTarget(node))
    } catch (error) {
      if (!(error instanceof HTTPForbidden)) throw error
      throw conflict(`Cannot update owner of node "${node.uuid}" while it is in state "active".`)
    }
  }
  if (node.allocation_id === null) return
  try {
    const { owner } = await getAllocationById(call.api.db, node.allocation_id)
    if (owner !== null) {
      throw conflict(`Cannot update owner of node "${node.uuid}" while it is allocated to an allocation with an owner.`)
    }
  } catch (error) {
    if (!(error instanceof AllocationNotFound)) throw error
  }
}

/** The node after the patch, checked; and which of its columns differ. */
async function patchNode(
  call: AnyCall,
  node: Node,
  patch: readonly PatchOperation[],
  parent: string | undefined,
): Promise<{ data: Node; changes: (keyof Node)[] }> {
  const document: Members = { ...node, chassis_uuid: await chassisUuidOf(call, node) }
  const after = patched(document, patch)
  if (parent !== undefined) after['parent_node'] = parent
  const values = readPatched(nodeFields, after, (name) => checkedFields.has(name))
  const { chassis_uuid: chassisUuid, ...columns } = values
  const chassis = await chassisNamed(call, chassisUuid as string | null | undefined)
  if (node.chassis_id !== null && chassis === null && call.minor < 25) {
    throw new NotAcceptable('Taking a node out of its chassis needs API version 1.25 or newer.')
  }
  const wanted: Members = { ...columns, chassis_id: chassis?.id ?? null }
  for (const name of checkedFields) if (name !== 'chassis_uuid' && !(name in wanted)) wanted[name] = null
  wanted['conductor_group'] = String(wanted['conductor_group'] ?? '').toLowerCase()
  wanted['protected'] ??= false
  if (wanted['maintenance'] === null) throw new Invalid('maintenance of a node is true or false, it cannot be removed.')
  const changes = Object.keys(wanted).filter(
    (name) => !isDeepStrictEqual(wanted[name], node[name as keyof Node]),
  ) as (keyof Node)[]
  const data: Node = { ...copy({ ...node, ...dates }), ...datesOf(node), ...(wanted as Partial<Node>) }
  const displayName: unknown = data.instance_info?.['display_name']
  if (
    changes.includes('instance_info') &&
    !data.instance_name &&
    typeof displayName === 'string' &&
    displayName !== ''
  ) {
    data.instance_name = displayName
    if (!changes.includes('instance_name')) changes.push('instance_name')
  }
  return { data, changes }
}

const timeFields = [
  'created_at',
  'updated_at',
  'provision_updated_at',
  'inspection_started_at',
  'inspection_finished_at',
] as const
const dates = Object.fromEntries(timeFields.map((name) => [name, null])) as Record<(typeof timeFields)[number], null>
/** Dates are no JSON: they are taken along as they are. */
const datesOf = (node: Node): Pick<Node, (typeof timeFields)[number]> =>
  Object.fromEntries(timeFields.map((name) => [name, node[name]])) as Pick<Node, (typeof timeFields)[number]>

const updateNode = route({
  method: 'PATCH',
  path: '/v1/nodes/:node',
  answer: nodeView,
  policy: ['baremetal:node:get', ...new Set([...rulesByPath.map(([, rule]) => rule), generalRule])],
  asks: 'handler',
  args: { reset_interfaces: optional(Flag, { since: 45 }) },
  body: PatchBody,
  async handler(call) {
    const { body: patch, args } = call
    const resetInterfaces = args.reset_interfaces
    checkPatch(call, patch, resetInterfaces)
    const node = await visibleNode(call, rulesOf(patch), { suffix: true })
    const [parentIdent] = patchValues(patch, '/parent_node')
    const parent = parentIdent ? await linkableNode(call, node.owner, parentIdent, 'parent_node') : undefined
    if (parent?.uuid === node.uuid && parent !== undefined) {
      throw new Invalid(
        `Unable to apply the requested parent_node '${shortly(parentIdent)}'. A node cannot be its own parent.`,
      )
    }
    await checkState(call, node, patch)
    for (const name of patchValues(patch, '/name')) checkName(name, call.minor)
    const node_obj = await patchNode(call, node, patch, parent?.uuid ?? undefined)
    // a node whose hardware type is gone must still be changed; where a change takes a node to, somebody must serve it
    const moves = node_obj.changes.includes('driver') || node_obj.changes.includes('conductor_group')
    const find = moves ? conductorOf : keeperOf
    const conductor = await find(call, node_obj.data, 400)
    if (node_obj.changes.includes('driver') && node.console_enabled) {
      throw conflict(
        `Node ${node.uuid} can not update the driver while the console is enabled. Please stop the console first.`,
      )
    }
    const change = () =>
      conductor.update_node(call.context, {
        node_obj,
        ...(resetInterfaces === undefined ? {} : { reset_interfaces: resetInterfaces }),
      })
    const updated = await announced(call, 'node.update', node_obj.data, change, await chassisOf(call, node_obj.data))
    return jsonText(await nodeText(call, updated))
  },
})

export const nodePatchRoutes = [updateNode]
