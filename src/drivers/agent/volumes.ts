import { capabilitiesToTable } from '../../domain/capabilities.ts'
import { StorageError } from '../../errors/image.ts'
import type { Task } from '../task.ts'
import { setInternal } from './internal-info.ts'

/** Volume types that a machine must be able to boot from by itself, and the capability that says so. */
const neededCapability: Readonly<Record<string, string>> = {
  iscsi: 'iscsi_boot',
  fibre_channel: 'fibre_channel_boot',
}

/**
 * Notes down which volume the node boots from, if any.
 * @throws StorageError the node cannot boot from that kind
 */
export async function recordBootVolume(task: Task): Promise<void> {
  const { node } = task
  const volume = (await task.volumeTargets()).find((target) => target.boot_index === 0)
  if (volume === undefined) return
  const kind = String(volume.volume_type).toLowerCase()
  const needed = neededCapability[kind]
  if (needed !== undefined && !(needed in capabilitiesToTable(node.properties?.['capabilities']))) {
    throw new StorageError(
      `Node ${node.uuid} has a boot volume of type ${kind}, but not the capability ${needed} in properties.capabilities.`,
    )
  }
  if (task.driver.boot.capabilities.includes(`${kind}_volume_boot`)) {
    setInternal(node, { boot_from_volume: volume.uuid })
    await task.save()
  }
}
