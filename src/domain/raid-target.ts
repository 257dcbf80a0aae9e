import { MissingParameterValue } from '../errors/driver.ts'

interface HasTargetRaid {
  readonly uuid: string | null
  readonly target_raid_config: Record<string, unknown> | null
}

/**
 * The part of a node's target RAID configuration that is to be made: with or without its root volume, with or without the others.
 * @throws MissingParameterValue when the node has none, or nothing of it is left
 */
export function wantedRaidConfig(
  node: HasTargetRaid,
  { root = true, nonRoot = true }: { root?: boolean; nonRoot?: boolean } = {},
): Record<string, unknown> {
  const target = node.target_raid_config
  if (target === null || Object.keys(target).length === 0) {
    throw new MissingParameterValue(`Node ${node.uuid} has no target RAID configuration; set it first.`)
  }
  const disks = (target['logical_disks'] ?? []) as Record<string, unknown>[]
  const wanted = disks.filter((disk) => (disk['is_root_volume'] ? root : nonRoot))
  if (wanted.length === 0) {
    const left = [...(root ? [] : ['the root volume']), ...(nonRoot ? [] : ['the other volumes'])].join(' and ')
    throw new MissingParameterValue(
      `The target RAID configuration of node ${node.uuid} is empty${left === '' ? '' : ` without ${left}`}.`,
    )
  }
  return { ...target, logical_disks: wanted }
}
