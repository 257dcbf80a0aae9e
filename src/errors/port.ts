import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const MACAlreadyExists = defineError<{ mac: unknown }>(
  'MACAlreadyExists',
  Conflict,
  (p) => `A port with the MAC address ${p.mac} exists already.`,
)
export const NoFreePhysicalPorts = defineError<{ vif: unknown }>(
  'NoFreePhysicalPorts',
  Invalid,
  (p) => `There is no free port for the VIF ${p.vif}; detach another VIF or add a port.`,
)
export const PortAlreadyExists = defineError<{ uuid: unknown }>(
  'PortAlreadyExists',
  Conflict,
  (p) => `A port with the uuid ${p.uuid} exists already.`,
)
export const PortDuplicateName = defineError<{ name: unknown }>(
  'PortDuplicateName',
  Conflict,
  (p) => `A port named ${p.name} exists already; choose another name.`,
)
export const PortNotFound = defineError<{ port: unknown }>(
  'PortNotFound',
  NotFound,
  (p) => `Port ${p.port} does not exist.`,
)
export const PortgroupAlreadyExists = defineError<{ uuid: unknown }>(
  'PortgroupAlreadyExists',
  Conflict,
  (p) => `A portgroup with the uuid ${p.uuid} exists already.`,
)
export const PortgroupDuplicateName = defineError<{ name: unknown }>(
  'PortgroupDuplicateName',
  Conflict,
  (p) => `A portgroup named ${p.name} exists already; choose another name.`,
)
export const PortgroupMACAlreadyExists = defineError<{ mac: unknown }>(
  'PortgroupMACAlreadyExists',
  Conflict,
  (p) => `A portgroup with the MAC address ${p.mac} exists already.`,
)
export const PortgroupNotEmpty = defineError<{ portgroup: unknown }>(
  'PortgroupNotEmpty',
  Invalid,
  (p) => `Portgroup ${p.portgroup} has ports; remove them from it first.`,
)
export const PortgroupNotFound = defineError<{ portgroup: unknown }>(
  'PortgroupNotFound',
  NotFound,
  (p) => `Portgroup ${p.portgroup} does not exist.`,
)
export const PortgroupPhysnetInconsistent = defineError<{ portgroup: unknown; physical_networks: unknown }>(
  'PortgroupPhysnetInconsistent',
  500,
  (p) => `The ports of portgroup ${p.portgroup} are in different physical networks: ${p.physical_networks}.`,
)
export const VifAlreadyAttached = defineError<{ vif: unknown; object_type: unknown; object_uuid: unknown }>(
  'VifAlreadyAttached',
  Conflict,
  (p) => `VIF ${p.vif} is attached to ${p.object_type} ${p.object_uuid} already.`,
)
export const VifInvalidForAttach = defineError<{ vif: unknown; node: unknown; reason: unknown }>(
  'VifInvalidForAttach',
  Conflict,
  (p) => `VIF ${p.vif} cannot be attached to node ${p.node}: ${p.reason}.`,
)
export const VifNotAttached = defineError<{ vif: unknown; node: unknown }>(
  'VifNotAttached',
  Invalid,
  (p) => `VIF ${p.vif} is not attached to node ${p.node}.`,
)
