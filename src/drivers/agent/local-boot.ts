import type { AgentClient } from '../../agent/client.ts'
import { commandError } from '../../agent/commands.ts'
import { bootModeOf } from '../../domain/boot-mode.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'
import { deployStepFailed } from './deploy-failure.ts'
import { internal, setInternal } from './internal-info.ts'

interface PartitionIds {
  readonly rootUuid: string | null
  readonly efiUuid: string | null
  readonly prepUuid: string | null
}

const usesSoftwareRaid = (node: Node) =>
  ((node.target_raid_config?.['logical_disks'] ?? []) as JsonDict[]).some((disk) => disk['controller'] === 'software')

/** Asks the agent what it wrote: the ids by which firmware and boot loader find it. */
export async function readPartitionIds(client: AgentClient, task: Task): Promise<PartitionIds> {
  const { node, config, log } = task
  const wholeDisk = Boolean(internal(node, 'is_whole_disk_image'))
  const { command_result: result } = await client.getPartitionUuids(node, task.signal)
  const ids = (result ?? {}) as Record<string, string | undefined>
  const rootUuid = ids['root uuid'] || null
  if (rootUuid !== null) {
    setInternal(node, { root_uuid_or_disk_id: rootUuid })
    await task.save()
  } else if (!wholeDisk) {
    log.error(`The agent on node ${node.uuid} knows no root partition; the instance will most likely not boot`)
  }
  const uefi = bootModeOf(node, config.deploy.default_boot_mode) === 'uefi'
  const ppc64 = String(node.properties?.['cpu_arch'] ?? '').startsWith('ppc64')
  return {
    rootUuid,
    efiUuid: (!wholeDisk && uefi && ids['efi system partition uuid']) || null,
    prepUuid: (ppc64 && ids['PReP Boot partition uuid']) || null,
  }
}

/**
 * Lets the agent install a boot loader or an EFI boot entry where one is needed: partition images, whole disks in UEFI mode, and
 * software RAID, whose disks each need one.
 */
export async function installBootLoader(client: AgentClient, task: Task, ids: PartitionIds): Promise<void> {
  const { node, config } = task
  const bootMode = bootModeOf(node, config.deploy.default_boot_mode)
  const softwareRaid = usesSoftwareRaid(node)
  const wholeDisk = Boolean(internal(node, 'is_whole_disk_image'))
  const rootUuid = softwareRaid ? softwareRaidRoot(node) : ids.rootUuid
  const needed = softwareRaid || (rootUuid !== null && !wholeDisk) || (wholeDisk && bootMode === 'uefi')
  if (!needed) return
  const result = await client.installBootloader(node, { ...ids, rootUuid, bootMode }, softwareRaid, task.signal)
  if (result.command_status !== 'FAILED') return
  await deployStepFailed(
    client,
    task,
    `The agent on node ${node.uuid} could not install a boot loader: ${commandError(result)}`,
  )
}

/** The file system inside the RAID, which the image tells; the partition that the agent saw is one of its members. */
function softwareRaidRoot(node: Node): string | null {
  const id: unknown = node.instance_info?.['image_rootfs_uuid'] || internal(node, 'root_uuid_or_disk_id')
  return typeof id === 'string' ? id : null
}
