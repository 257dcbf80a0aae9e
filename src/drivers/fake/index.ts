import { FakeBios } from './bios.ts'
import { FakeBoot } from './boot.ts'
import { FakeConsole } from './console.ts'
import { FakeDeploy } from './deploy.ts'
import { FakeFirmware } from './firmware.ts'
import { FakeInspect } from './inspect.ts'
import { FakeManagement } from './management.ts'
import { FakePower } from './power.ts'
import { FakeRaid } from './raid.ts'
import { FakeRescue } from './rescue.ts'
import { FakeStorage } from './storage.ts'
import { FakeVendor } from './vendor.ts'

/** Interfaces of `fake-hardware`, by entry-point name. */
export const interfaces = {
  bios: { fake: FakeBios },
  boot: { fake: FakeBoot },
  console: { fake: FakeConsole },
  deploy: { fake: FakeDeploy },
  firmware: { fake: FakeFirmware },
  inspect: { fake: FakeInspect },
  management: { fake: FakeManagement },
  power: { fake: FakePower },
  raid: { fake: FakeRaid },
  rescue: { fake: FakeRescue },
  storage: { fake: FakeStorage },
  vendor: { fake: FakeVendor },
}
