import { DracRedfishInspect } from './idrac-inspect.ts'
import { RedfishInspect } from './redfish-inspect.ts'

/** Inspect interfaces that process what they find, by entry-point name. */
export const interfaces = {
  inspect: { 'idrac-redfish': DracRedfishInspect, redfish: RedfishInspect },
}
