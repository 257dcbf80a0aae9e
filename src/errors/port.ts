import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const MACAlreadyExists = defineError<{ mac: unknown }>(
  'MACAlreadyExists',
  Conflict,
  (p) => `Port address is taken: mac ${p.mac}.`,
)
export const NoFreePhysicalPorts = defineError<{ vif: unknown }>(
  'NoFreePhysicalPorts',
  Invalid,
  (p) => `No port left for the VIF: vif ${p.vif}.`,
)
export const PortAlreadyExists = defineError<{ uuid: unknown }>(
  'PortAlreadyExists',
  Conflict,
  (p) => `Port uuid is taken: uuid ${p.uuid}.`,
)
export const PortDuplicateName = defineError<{ name: unknown }>(
  'PortDuplicateName',
  Conflict,
  (p) => `Port name is taken: name ${p.name}.`,
)
export const PortNotFound = defineError<{ port: unknown }>(
  'PortNotFound',
  NotFound,
  (p) => `Port does not exist: port ${p.port}.`,
)
export const PortgroupAlreadyExists = defineError<{ uuid: unknown }>(
  'PortgroupAlreadyExists',
  Conflict,
  (p) => `Portgroup uuid is taken: uuid ${p.uuid}.`,
)
export const PortgroupDuplicateName = defineError<{ name: unknown }>(
  'PortgroupDuplicateName',
  Conflict,
  (p) => `Portgroup name is taken: name ${p.name}.`,
)
export const PortgroupMACAlreadyExists = defineError<{ mac: unknown }>(
  'PortgroupMACAlreadyExists',
  Conflict,
  (p) => `Portgroup address is taken: mac ${p.mac}.`,
)
export const PortgroupNotEmpty = defineError<{ portgroup: unknown }>(
  'PortgroupNotEmpty',
  Invalid,
  (p) => `Portgroup still has ports: portgroup ${p.portgroup}.`,
)
export const PortgroupNotFound = defineError<{ portgroup: unknown }>(
  'PortgroupNotFound',
  NotFound,
  (p) => `Portgroup does not exist: portgroup ${p.portgroup}.`,
)
export const PortgroupPhysnetInconsistent = defineError<{ portgroup: unknown; physical_networks: unknown }>(
  'PortgroupPhysnetInconsistent',
  500,
  (p) => `Member ports differ in physnet: portgroup ${p.portgroup}, physical_networks ${p.physical_networks}.`,
)
export const VifAlreadyAttached = defineError<{ vif: unknown; object_type: unknown; object_uuid: unknown }>(
  'VifAlreadyAttached',
  Conflict,
  (p) => `VIF sits on another port: vif ${p.vif}, object_type ${p.object_type}, object_uuid ${p.object_uuid}.`,
)
export const VifInvalidForAttach = defineError<{ vif: unknown; node: unknown; reason: unknown }>(
  'VifInvalidForAttach',
  Conflict,
  (p) => `VIF cannot be attached here: vif ${p.vif}, node ${p.node}, reason ${p.reason}.`,
)
export const VifNotAttached = defineError<{ vif: unknown; node: unknown }>(
  'VifNotAttached',
  Invalid,
  (p) => `VIF is not on this node: vif ${p.vif}, node ${p.node}.`,
)
