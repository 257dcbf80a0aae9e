import { AgentInspect } from './agent-inspect.ts'
import { DracRedfishInspect } from './idrac-inspect.ts'
import { RedfishInspect } from './redfish-inspect.ts'

/** Inspect interfaces that process what they find, by entry-point name. */
export const interfaces = {
  inspect: { agent: AgentInspect, 'idrac-redfish': DracRedfishInspect, redfish: RedfishInspect },
}
