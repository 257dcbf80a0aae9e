import { RedfishManagement } from './management.ts'
import { RedfishPower } from './power.ts'

/** What this family has, by entry-point name. */
export const interfaces = {
  power: { redfish: RedfishPower },
  management: { redfish: RedfishManagement },
}
