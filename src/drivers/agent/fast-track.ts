import type { Config } from '../../config/index.ts'
import { booleanFrom } from '../../domain/booleans.ts'
import { SERVICING_STATES } from '../../domain/states.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { Node } from '../../objects/index.ts'
import type { Task } from '../task.ts'
import { internal } from './internal-info.ts'

/**
 * May the agent be left running between operations: `driver_info.fast_track`, else `[deploy]fast_track`.
 * @throws InvalidParameterValue
 */
export function fastTrackEnabled(node: Node, config: Config): boolean {
  const own: unknown = node.driver_info?.['fast_track']
  if (own === undefined || own === null) return config.deploy.fast_track
  const decided = booleanFrom(own)
  if (decided === undefined) throw new InvalidParameterValue(`fast_track of node ${node.uuid} must be true or false.`)
  return decided
}

/** Could the operation use an agent that runs already? Says nothing of whether one does. */
export async function fastTrackAble(task: Task): Promise<boolean> {
  const { node } = task
  return (
    fastTrackEnabled(node, task.config) &&
    (await task.driver.storage.shouldWriteImage(task)) &&
    node.last_error === null &&
    !SERVICING_STATES.has(node.provision_state) &&
    !internal(node, 'redfish_fw_updates') &&
    !internal(node, 'firmware_updates')
  )
}

/** Was the agent heard of within `[deploy]fast_track_timeout`? */
export function agentIsAlive(node: Node, config: Config, now: Date): boolean {
  const since = now.getTime() - config.deploy.fast_track_timeout * 1000
  if (
    node.power_state === 'power on' &&
    node.inspection_finished_at &&
    node.inspection_finished_at.getTime() >= since
  ) {
    return true
  }
  const inspecting = node.provision_state === 'inspecting' || node.provision_state === 'inspect wait'
  if (!internal(node, 'agent_url') && !inspecting) return false
  const heard = internal(node, 'agent_last_heartbeat')
  return typeof heard === 'string' && Date.parse(/Z|[+-]\d\d:\d\d$/.test(heard) ? heard : `${heard}Z`) >= since
}
