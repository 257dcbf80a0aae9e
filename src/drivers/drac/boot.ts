import { setVirtualBootDevice } from '../../lib/redfish/dell.ts'
import { managersOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishVirtualMediaBoot } from '../redfish/boot.ts'
import type { SlotRule } from '../redfish/media.ts'
import type { Task } from '../task.ts'
import { byAnyManager } from './managers.ts'

/** Virtual devices as an iDRAC names them. */
const devices: Readonly<Record<string, 'VCD-DVD' | 'VFDD'>> = { cdrom: 'VCD-DVD', floppy: 'VFDD' }
/** Of the models from this generation on (17G: iDRAC10), only the first slot can be booted from. */
const firstSlotOnlyFrom = 17

export class DracRedfishVirtualMediaBoot extends RedfishVirtualMediaBoot {
  override readonly name: string = 'idrac-redfish-virtual-media'

  protected override checkVendor(): void {}

  protected override async slotRule(_task: Task, system: SystemResource): Promise<SlotRule> {
    const generations = (await managersOf(system)).map((manager) => Number.parseInt(manager.data.Model ?? '', 10))
    const firstOnly = generations.some((generation) => generation >= firstSlotOnlyFrom)
    return firstOnly ? (slot) => slot.id === '1' : () => true
  }

  /** iDRACs take virtual devices by their own settings, others by the standard. */
  protected override async setBootDevice(task: Task, device: string, persistent: boolean): Promise<void> {
    const own = devices[device]
    if (own === undefined) return super.setBootDevice(task, device, persistent)
    await this.bmcs.withSystem(task, `set the boot device to ${device}`, (system) =>
      byAnyManager(system, (manager) =>
        setVirtualBootDevice(manager, own, persistent, {
          waiter: task.clock,
          restart: () => task.powerAction('rebooting'),
        }),
      ),
    )
  }
}
