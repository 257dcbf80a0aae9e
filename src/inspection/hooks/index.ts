import { accelerators } from './accelerators.ts'
import { raidDevice, rootDevice } from './disks.ts'
import type { InspectionHook } from './hook.ts'
import { ports, validateInterfaces } from './interfaces.ts'
import { localLinkConnection, parseLldp, physicalNetwork } from './links.ts'
import { architecture, bootMode, cpuCapabilities, cpus, memory, pciDevices } from './properties.ts'
import { extraHardware, ramdiskError } from './ramdisk.ts'

/** Every hook that `[inspector]hooks` and `[redfish]inspection_hooks` may name. */
export const inspectionHooks: readonly InspectionHook[] = [
  accelerators,
  architecture,
  bootMode,
  cpuCapabilities,
  cpus,
  extraHardware,
  localLinkConnection,
  memory,
  parseLldp,
  pciDevices,
  physicalNetwork,
  ports,
  raidDevice,
  ramdiskError,
  rootDevice,
  validateInterfaces,
]
