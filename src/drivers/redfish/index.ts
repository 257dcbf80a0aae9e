import { RedfishBios } from './bios.ts'
import { RedfishHttpsBoot, RedfishVirtualMediaBoot } from './boot.ts'
import { RedfishFirmware } from './firmware.ts'
import { RedfishManagement } from './management.ts'
import { RedfishPower } from './power.ts'
import { RedfishRaid } from './raid.ts'
import { RedfishVendorPassthru } from './vendor.ts'

/** What this family has, by entry-point name. */
export const interfaces = {
  bios: { redfish: RedfishBios },
  boot: { 'redfish-virtual-media': RedfishVirtualMediaBoot, 'redfish-https': RedfishHttpsBoot },
  firmware: { redfish: RedfishFirmware },
  management: { redfish: RedfishManagement },
  power: { redfish: RedfishPower },
  raid: { redfish: RedfishRaid },
  vendor: { redfish: RedfishVendorPassthru },
}
