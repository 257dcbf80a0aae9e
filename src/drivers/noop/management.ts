import { InvalidParameterValue } from '../../errors/base.ts'
import { ManagementInterface, type BootDevice } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'

/** Touches no hardware: the boot order is taken to be right already. */
export class NoopManagement extends ManagementInterface {
  readonly name = 'noop'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  supportedBootDevices(_task: Task): Promise<string[]> {
    return Promise.resolve(['pxe', 'disk'])
  }
  async setBootDevice(task: Task, device: string): Promise<void> {
    const supported = await this.supportedBootDevices(task)
    if (supported.includes(device)) return
    throw new InvalidParameterValue(
      `The noop management interface cannot set the boot device ${device} of node ${task.node.uuid}; it takes ${supported.join(', ')}.`,
    )
  }
  getBootDevice(_task: Task): Promise<BootDevice> {
    return Promise.resolve({ boot_device: 'pxe', persistent: true })
  }
}
