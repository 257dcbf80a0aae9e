import type { PowerState } from '../../domain/states.ts'
import { PowerStateFailure } from '../../errors/driver.ts'
import type { ResetType, SystemResource } from '../../lib/redfish/computer-system.ts'
import type { Task } from '../task.ts'

/** Power states of Redfish as Ironic's; a state on its way counts as reached, as operators know it. */
const seen = {
  On: 'power on',
  PoweringOn: 'power on',
  Off: 'power off',
  PoweringOff: 'power off',
  Paused: null,
} as const

/** What is sent for each state that may be asked for. */
export const resetTypes: Readonly<Record<string, ResetType>> = {
  'power on': 'On',
  'power off': 'ForceOff',
  rebooting: 'ForceRestart',
  'soft rebooting': 'GracefulRestart',
  'soft power off': 'GracefulShutdown',
}

export const powerStateOf = (system: SystemResource): PowerState => {
  const { PowerState } = system.data
  return PowerState === undefined ? null : seen[PowerState]
}

/** Pauses between looks at the power state: short at first, since many machines switch at once, then ever longer. */
const pauses = { firstMs: 200, growth: 1.6, longestMs: 10_000 } as const

/**
 * Looks until the state is reached.
 * @param timeoutSeconds null or 0: `[conductor]power_state_change_timeout`
 * @throws PowerStateFailure when time is up
 */
export async function waitForPower(
  task: Task,
  target: PowerState,
  timeoutSeconds: number | null | undefined,
): Promise<void> {
  const seconds = timeoutSeconds || task.config.conductor.power_state_change_timeout
  const deadline = task.clock.now().getTime() + seconds * 1000
  for (let pause: number = pauses.firstMs; ; pause = Math.min(pause * pauses.growth, pauses.longestMs)) {
    const left = deadline - task.clock.now().getTime()
    if (left <= 0) throw new PowerStateFailure({ pstate: target })
    await task.clock.sleep(Math.min(pause, left), task.signal)
    if ((await task.driver.power.getPowerState(task)) === target) return
  }
}
