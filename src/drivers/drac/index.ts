import { RedfishBios } from '../redfish/bios.ts'
import { RedfishPower } from '../redfish/power.ts'
import { RedfishVendorPassthru } from '../redfish/vendor.ts'
import { DracRedfishVirtualMediaBoot } from './boot.ts'
import { DracRedfishManagement } from './management.ts'
import { DracRedfishRaid } from './raid.ts'

/** Former names of what is plain Redfish by now. */
class DracRedfishPower extends RedfishPower {
  override readonly name: string = 'idrac-redfish'
  override readonly supported: boolean = false
}
class DracRedfishBios extends RedfishBios {
  override readonly name: string = 'idrac-redfish'
  override readonly supported: boolean = false
}
class DracRedfishVendorPassthru extends RedfishVendorPassthru {
  override readonly name: string = 'idrac-redfish'
  override readonly supported: boolean = false
}

/** What this family has, by entry-point name. */
export const interfaces = {
  bios: { 'idrac-redfish': DracRedfishBios },
  boot: { 'idrac-redfish-virtual-media': DracRedfishVirtualMediaBoot },
  management: { 'idrac-redfish': DracRedfishManagement },
  power: { 'idrac-redfish': DracRedfishPower },
  raid: { 'idrac-redfish': DracRedfishRaid },
  vendor: { 'idrac-redfish': DracRedfishVendorPassthru },
}
