import type { Node } from '../objects/index.ts'
import { SERVICING_STATES } from '../domain/states.ts'
import type { ConductorTask } from './conductor-task.ts'

/** `fast_track` of the node, or `[deploy]fast_track`. */
function fastTrackEnabled(node: Node, stock: boolean): boolean {
  const own: unknown = node.driver_info?.['fast_track']
  if (own === undefined || own === null) return stock
  return typeof own === 'boolean'
    ? own
    : ['1', 't', 'true', 'on', 'y', 'yes'].includes(String(own).trim().toLowerCase())
}

/** May a running agent be used as it is, instead of booting it anew? */
export async function fastTrackAble(task: ConductorTask): Promise<boolean> {
  const { node, config } = task
  return (
    fastTrackEnabled(node, config.deploy.fast_track) &&
    node.last_error === null &&
    !SERVICING_STATES.has(node.provision_state) &&
    !isFilled(node.driver_internal_info?.['redfish_fw_updates']) &&
    !isFilled(node.driver_internal_info?.['firmware_updates']) &&
    (await task.driver.storage.shouldWriteImage(task))
  )
}

const isFilled = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length > 0
      : Boolean(value)

/** Has the agent been heard of within the time-out (`[deploy]fast_track_timeout`, seconds)? */
export function agentIsAlive(node: Node, timeoutSeconds: number, now: Date): boolean {
  const recent = (time: Date) => now.getTime() - time.getTime() <= timeoutSeconds * 1000
  if (node.power_state === 'power on' && node.inspection_finished_at !== null && recent(node.inspection_finished_at)) {
    return true
  }
  const inspecting = node.provision_state === 'inspecting' || node.provision_state === 'inspect wait'
  if (!node.driver_internal_info?.['agent_url'] && !inspecting) return false
  const heard: unknown = node.driver_internal_info?.['agent_last_heartbeat']
  return typeof heard === 'string' && recent(new Date(`${heard.slice(0, 23)}Z`))
}

/** Is the agent of the node alive, so that it need not be booted anew? */
export async function isFastTrack(task: ConductorTask): Promise<boolean> {
  if (!(await fastTrackAble(task))) return false
  if ((await task.driver.power.getPowerState(task)) !== 'power on') return false
  return agentIsAlive(task.node, task.config.deploy.fast_track_timeout, task.clock.now())
}
