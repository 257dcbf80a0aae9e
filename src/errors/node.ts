import { defineError } from './define.ts'
import { Conflict, HTTPForbidden, Invalid, InvalidState, NotFound } from './base.ts'

export const ChildNodeLocked = defineError<{ node: unknown; child: unknown }>(
  'ChildNodeLocked',
  Conflict,
  (p) =>
    `Node ${p.node} cannot be powered off while its child node ${p.child} is locked; try again when that operation ends.`,
)
export const Duplicate = defineError<Record<string, never>>('Duplicate', 500, () => 'Generic duplicate resource.')
export const DuplicateName = defineError<{ name: unknown }>(
  'DuplicateName',
  Conflict,
  (p) => `A node named ${p.name} exists already; choose another name.`,
)
export const NodeNotFound = defineError<{ node: unknown }>(
  'NodeNotFound',
  NotFound,
  (p) => `Node ${p.node} does not exist.`,
)
export const DuplicateNodeOnLookup = defineError<{ node: unknown }>(
  'DuplicateNodeOnLookup',
  NodeNotFound,
  (p) => `Several nodes match ${p.node}; a lookup must find exactly one.`,
)
export const InstanceAssociated = defineError<{ instance_uuid: unknown; node: unknown }>(
  'InstanceAssociated',
  Conflict,
  (p) => `Instance ${p.instance_uuid} is on node ${p.node} already.`,
)
export const InvalidMAC = defineError<{ mac: unknown }>('InvalidMAC', Invalid, (p) => `${p.mac} is no MAC address.`)
// the Tempest plugin of Ironic reads this sentence
export const InvalidStateRequested = defineError<{ action: unknown; node: unknown; state: unknown }>(
  'InvalidStateRequested',
  Invalid,
  (p) =>
    `The requested action "${p.action}" can not be performed on node ${p.node} while it is in the state ${p.state}.`,
)
export const NodeAlreadyExists = defineError<{ uuid: unknown }>(
  'NodeAlreadyExists',
  Conflict,
  (p) => `A node with the uuid ${p.uuid} exists already.`,
)
export const NodeAssociated = defineError<{ node: unknown; instance: unknown }>(
  'NodeAssociated',
  InvalidState,
  (p) => `Node ${p.node} carries the instance ${p.instance}; remove that first.`,
)
export const NodeCleaningFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeCleaningFailure',
  500,
  (p) => `Node ${p.node} cannot be cleaned: ${p.reason}.`,
)
export const NodeConsoleNotEnabled = defineError<{ node: unknown }>(
  'NodeConsoleNotEnabled',
  Invalid,
  (p) => `The console of node ${p.node} is off; switch it on first.`,
)
export const NodeHistoryNotFound = defineError<{ history: unknown }>(
  'NodeHistoryNotFound',
  NotFound,
  (p) => `History entry does not exist: history ${p.history}.`,
)
export const NodeInMaintenance = defineError<{ op: unknown; node: unknown }>(
  'NodeInMaintenance',
  Invalid,
  (p) => `Node ${p.node} is in maintenance, which forbids ${p.op}; take it out of maintenance first.`,
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
  (p) => `Node ${p.node} is retired, which forbids ${p.op}.`,
)
export const NodeLocked = defineError<{ node: unknown; host: unknown }>(
  'NodeLocked',
  Conflict,
  (p) => `Node ${p.node} is locked by host ${p.host}; try again when its current operation ends.`,
)
export const NodeMaintenanceFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeMaintenanceFailure',
  Invalid,
  (p) => `Maintenance flag toggle failed: node ${p.node}, reason ${p.reason}.`,
)
export const NodeNotLocked = defineError<{ node: unknown }>(
  'NodeNotLocked',
  Invalid,
  (p) => `Node ${p.node} is not locked by this host, so its lock cannot be released.`,
)
export const NodeProtected = defineError<{ node: unknown }>(
  'NodeProtected',
  HTTPForbidden,
  (p) => `Node ${p.node} is protected; clear its protected flag to undeploy, rebuild or delete it.`,
)
export const NodeServicingFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeServicingFailure',
  500,
  (p) => `Node ${p.node} cannot be serviced: ${p.reason}.`,
)
export const NodeTagNotFound = defineError<{ node_id: unknown; tag: unknown }>(
  'NodeTagNotFound',
  500,
  (p) => `Node has no such tag: node_id ${p.node_id}, tag ${p.tag}.`,
)
export const NodeTraitNotFound = defineError<{ node_id: unknown; trait: unknown }>(
  'NodeTraitNotFound',
  NotFound,
  (p) => `Node ${p.node_id} has no trait ${p.trait}.`,
)
export const NodeVerifyFailure = defineError<{ node: unknown; reason: unknown }>(
  'NodeVerifyFailure',
  500,
  (p) => `Node ${p.node} could not be verified: ${p.reason}.`,
)
