import { InvalidParameterValue } from '../../errors/base.ts'
import { StorageInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'

/** Local disks only. */
export class NoopStorage extends StorageInterface {
  readonly name = 'noop'
  validate(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  attachVolumes(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  detachVolumes(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  shouldWriteImage(_task: Task): Promise<boolean> {
    return Promise.resolve(true)
  }
}

/** Remote volumes that an operator attaches; the node boots from the volume with boot index 0. */
export class ExternalStorage extends StorageInterface {
  readonly name = 'external'
  async validate(task: Task): Promise<void> {
    if ((await this.shouldWriteImage(task)) || task.driver.boot.capabilities.includes('ipxe_boot')) return
    throw new InvalidParameterValue(
      `Node ${task.node.uuid} is to boot from an iSCSI volume; its boot interface must be ipxe for that, not ${task.node.boot_interface}.`,
    )
  }
  attachVolumes(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  detachVolumes(_task: Task): Promise<void> {
    return Promise.resolve()
  }
  async shouldWriteImage(task: Task): Promise<boolean> {
    if (task.node.instance_info?.['image_source'] !== undefined) return true
    return !(await task.volumeTargets()).some(({ boot_index }) => boot_index === 0)
  }
}
