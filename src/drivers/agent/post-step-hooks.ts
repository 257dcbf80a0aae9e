import type { AgentPhase } from '../../agent/client.ts'
import type { AgentCommand } from '../../agent/commands.ts'
import { updateCapabilities } from '../../domain/capabilities.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'

/** Takes over what a step that the agent ended well has found or made. */
export type PostStepHook = (task: Task, phase: AgentPhase, command: AgentCommand) => Promise<void>

/** `YYYY-MM-DD HH:MM:SS.ffffff`, as Python prints a time. */
const pythonTime = (time: Date) => time.toISOString().replace('T', ' ').replace('Z', '000')

/**
 * Writes a RAID configuration that was made into the node: `raid_config`, and for its root volume `properties.local_gb`,
 * `root_device` and the capability `raid_level`.
 * @throws InvalidParameterValue more than one root volume, or malformed capabilities
 */
export function updateRaidInfo(node: Node, config: JsonDict, now: Date): void {
  const disks = (config['logical_disks'] ?? []) as JsonDict[]
  const roots = disks.filter((disk) => disk['is_root_volume'])
  if (roots.length > 1) {
    throw new InvalidParameterValue(`The RAID configuration of node ${node.uuid} has ${roots.length} root volumes.`)
  }
  node.raid_config = { ...config, last_updated: pythonTime(now) }
  const root = roots[0]
  if (root === undefined) return
  const properties: JsonDict = { ...node.properties }
  if (root['size_gb'] !== 'MAX') properties['local_gb'] = Math.trunc(Number(root['size_gb']))
  if ('root_device_hint' in root) properties['root_device'] = root['root_device_hint']
  properties['capabilities'] = updateCapabilities(properties['capabilities'] as string | undefined, {
    raid_level: root['raid_level'] as unknown,
  })
  node.properties = properties
}

const raidMade: PostStepHook = async (task, phase, command) => {
  const result = (command.command_result as JsonDict | null | undefined)?.[`${phase}_result`] as JsonDict | undefined
  if (!result) {
    throw new IronicError(`The agent on node ${task.node.uuid} made a RAID but did not tell which.`)
  }
  updateRaidInfo(task.node, result, task.clock.now())
  await task.save()
}

const raidDeleted: PostStepHook = async (task) => {
  const { root_device: _gone, ...properties } = task.node.properties ?? {}
  task.node.properties = properties
  task.node.raid_config = {}
  await task.save()
}

/** By phase and step. */
export const postStepHooks: Readonly<Record<string, PostStepHook>> = {
  'clean:raid.create_configuration': raidMade,
  'deploy:raid.apply_configuration': raidMade,
  'service:raid.apply_configuration': raidMade,
  'clean:raid.delete_configuration': raidDeleted,
}
