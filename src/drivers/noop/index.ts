import { NoopManagement } from './management.ts'
import { NoopNetwork } from './network.ts'
import { ExternalStorage, NoopStorage } from './storage.ts'
import { NoBios, NoConsole, NoDeploy, NoFirmware, NoInspect, NoRaid, NoRescue, NoVendor } from './unsupported.ts'

/** Interfaces that do nothing, or say that there is nothing, by entry-point name. */
export const interfaces = {
  bios: { 'no-bios': NoBios },
  console: { 'no-console': NoConsole },
  deploy: { noop: NoDeploy },
  firmware: { 'no-firmware': NoFirmware },
  inspect: { 'no-inspect': NoInspect },
  management: { noop: NoopManagement },
  network: { noop: NoopNetwork },
  raid: { 'no-raid': NoRaid },
  rescue: { 'no-rescue': NoRescue },
  storage: { external: ExternalStorage, noop: NoopStorage },
  vendor: { 'no-vendor': NoVendor },
}
