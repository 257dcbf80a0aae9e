import { defineError } from './define.ts'
import { Conflict, HTTPForbidden, Invalid, InvalidState, NotFound } from './base.ts'

export const ChildNodeLocked = defineError<{ node: unknown; child: unknown }>(
  'ChildNodeLocked',
  Conflict,
  (p) => `Child node is locked: node ${p.node}, child ${p.child}.`,
)
export const Duplicate = defineError<Record<string, never>>('Duplicate', 500, () => 'Generic duplicate resource.')
export const DuplicateName = defineError<{ name: unknown }>(
  'DuplicateName',
  Conflict,
  (p) => `Node name is taken: name ${p.name}.`,
)
export const NodeNotFound = defineError<{ node: unknown }>(
  'NodeNotFound',
  NotFound,
  (p) => `Node does not exist: node ${p.node}.`,
)
export const DuplicateNodeOnLookup = defineError<{ node: unknown }>(
  'DuplicateNodeOnLookup',
  NodeNotFound,
  (p) => `Several nodes match a lookup: node ${p.node}.`,
)
export const InstanceAssociated = defineError<{ instance_uuid: unknown; node: unknown }>(
  'InstanceAssociated',
  Conflict,
  (p) => `Instance already sits on a node: instance_uuid ${p.instance_uuid}, node ${p.node}.`,
)
export const InvalidMAC = defineError<{ mac: unknown }>(
  'InvalidMAC',
  Invalid,
  (p) => `Value is no MAC address: mac ${p.mac}.`,
)
export const InvalidStateRequested = defineError<{ action: unknown; node: unknown; state: unknown }>(
  'InvalidStateRequested',
  Invalid,
  (p) => `Action impossible in this state: action ${p.action}, node ${p.node}, state ${p.state}.`,
)
export const NodeAlreadyExists = defineError<{ uuid: unknown }>(
  'NodeAlreadyExists',
  Conflict,
  (p) => `Node uuid is taken: uuid ${p.uuid}.`,
)
export const NodeAssociated = defineError<{ node: unknown; instance: unknown }>(
  'NodeAssociated',
  InvalidState,
  (p) => `Node carries an instance: node ${p.node}, instance ${p.instance}.`,
)
export const NodeCleaningFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeCleaningFailure',
  500,
  (p) => `Cleaning went wrong: node ${p.node}, reason ${p.reason}.`,
)
export const NodeConsoleNotEnabled = defineError<{ node: unknown }>(
  'NodeConsoleNotEnabled',
  Invalid,
  (p) => `Console is switched off: node ${p.node}.`,
)
export const NodeHistoryNotFound = defineError<{ history: unknown }>(
  'NodeHistoryNotFound',
  NotFound,
  (p) => `History entry does not exist: history ${p.history}.`,
)
export const NodeInMaintenance = defineError<{ op: unknown; node: unknown }>(
  'NodeInMaintenance',
  Invalid,
  (p) => `Maintenance mode forbids the operation: op ${p.op}, node ${p.node}.`,
)
export const NodeInventoryAlreadyExists = defineError<{ id: unknown }>(
  'NodeInventoryAlreadyExists',
  Conflict,
  (p) => `Inventory row exists already: id ${p.id}.`,
)
export const NodeInventoryNotFound = defineError<{ node: unknown }>(
  'NodeInventoryNotFound',
  NotFound,
  (p) => `No stored inventory for the node: node ${p.node}.`,
)
export const NodeIsRetired = defineError<{ op: unknown; node: unknown }>(
  'NodeIsRetired',
  Invalid,
  (p) => `Retired node refuses the operation: op ${p.op}, node ${p.node}.`,
)
export const NodeLocked = defineError<{ node: unknown; host: unknown }>(
  'NodeLocked',
  Conflict,
  (p) => `Another host holds the lock: node ${p.node}, host ${p.host}.`,
)
export const NodeMaintenanceFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeMaintenanceFailure',
  Invalid,
  (p) => `Maintenance flag toggle failed: node ${p.node}, reason ${p.reason}.`,
)
export const NodeNotLocked = defineError<{ node: unknown }>(
  'NodeNotLocked',
  Invalid,
  (p) => `Release without holding the lock: node ${p.node}.`,
)
export const NodeProtected = defineError<{ node: unknown }>(
  'NodeProtected',
  HTTPForbidden,
  (p) => `Protected node refuses teardown: node ${p.node}.`,
)
export const NodeServicingFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeServicingFailure',
  500,
  (p) => `Servicing went wrong: node ${p.node}, reason ${p.reason}.`,
)
export const NodeTagNotFound = defineError<{ node_id: unknown; tag: unknown }>(
  'NodeTagNotFound',
  500,
  (p) => `Node has no such tag: node_id ${p.node_id}, tag ${p.tag}.`,
)
export const NodeTraitNotFound = defineError<{ node_id: unknown; trait: unknown }>(
  'NodeTraitNotFound',
  NotFound,
  (p) => `Node lacks the trait: node_id ${p.node_id}, trait ${p.trait}.`,
)
export const NodeVerifyFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeVerifyFailure',
  500,
  (p) => `Verification went wrong: node ${p.node}, reason ${p.reason}.`,
)
