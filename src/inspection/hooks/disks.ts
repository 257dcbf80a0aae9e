import { findNodeInventory } from '../../db/node-inventory.ts'
import { findDevicesByHints, matchRootDeviceHints } from '../../domain/root-device-hints.ts'
import { HardwareInspectionFailure } from '../../errors/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { badInventory, dictsOf, type HookInput, type InspectionHook } from './hook.ts'

const gibibyte = 1024 ** 3

/** Disks that the node's `skip_block_devices` hints leave. */
function consideredDisks(input: HookInput): JsonDict[] {
  const disks = dictsOf(input, 'disks')
  const hints = (input.task.node.properties?.skip_block_devices ?? []) as JsonDict[]
  const skipped = new Set(hints.flatMap((hint) => findDevicesByHints(disks, hint).map((disk) => disk.name as unknown)))
  return disks.filter((disk) => !skipped.has(disk.name))
}

/** The disk that the node's root device hints choose. @throws HardwareInspectionFailure when there is none */
function hintedDisk(input: HookInput, hints: JsonDict): JsonDict {
  const { uuid } = input.task.node
  let disk: JsonDict | null
  try {
    disk = matchRootDeviceHints(consideredDisks(input), hints)
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw new HardwareInspectionFailure(
      `The root device hints of node ${uuid} cannot be used: ${cause.message}. Correct properties/root_device.`,
      { cause },
    )
  }
  if (disk === null)
    throw new HardwareInspectionFailure(
      `No disk of node ${uuid} fits its root device hints; correct properties/root_device or look at the inventory.`,
    )
  return disk
}

/** `properties.local_gb`, of the disk that the root device hints or the ramdisk chose */
export const rootDevice: InspectionHook = {
  name: 'root-device',
  async run(input) {
    const { task, pluginData } = input
    const hints = task.node.properties?.root_device as JsonDict | undefined
    if (hints && Object.keys(hints).length > 0) pluginData.root_disk = hintedDisk(input, hints)
    let localGb = 0
    const disk = pluginData.root_disk as JsonDict | undefined
    if (disk) {
      if (typeof disk.size !== 'number') throw badInventory(input, 'the root disk has no size')
      localGb = Math.floor(disk.size / gibibyte)
      if (localGb > 0 && task.config.inspector.disk_partitioning_spacing) localGb -= 1
    }
    pluginData.local_gb = localGb
    task.node.properties = { ...task.node.properties, local_gb: localGb }
    await task.save()
  },
}

const serialsOf = (disks: JsonDict[]) => disks.map((disk) => disk.serial as unknown).filter(Boolean)

/**
 * `properties.root_device` after a RAID volume was made: the one disk whose serial number was not in the stored inventory.
 * Nothing happens when a root device is known, or when none or several disks are new.
 */
export const raidDevice: InspectionHook = {
  name: 'raid-device',
  async run(input) {
    const { task, inventory } = input
    if ('root_device' in (task.node.properties ?? {})) return
    const current = Array.isArray(inventory.disks) ? serialsOf(inventory.disks as JsonDict[]) : []
    if (current.length === 0) return task.log.warning(`No disks with serial numbers came for node ${task.node.uuid}`)
    const previous = await findNodeInventory(task.db, task.node.id)
    if (previous === undefined) return
    const disks: unknown = previous.inventory_data?.disks
    if (!Array.isArray(disks) || disks.length === 0) throw badInventory(input, 'the stored inventory holds no disks')
    const known = new Set(serialsOf(disks as JsonDict[]))
    const added = current.filter((serial) => !known.has(serial))
    if (added.length !== 1)
      return task.log.warning(
        `${added.length} disks of node ${task.node.uuid} are new: no root device follows from that`,
      )
    task.node.properties = { ...task.node.properties, root_device: { serial: added[0] } }
    await task.save()
  },
}
