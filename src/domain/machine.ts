/** Provision states: `target` is what entering the state sets `target_provision_state` to; `stable` ends an operation. */
export const provisionStates = {
  enroll: { stable: true, target: null },
  manageable: { stable: true, target: null },
  available: { stable: true, target: null },
  active: { stable: true, target: null },
  error: { stable: true, target: null },
  rescue: { stable: true, target: null },
  verifying: { stable: false, target: 'manageable' },
  deploying: { stable: false, target: 'active' },
  'wait call-back': { stable: false, target: 'active' },
  'deploy failed': { stable: false, target: 'active' },
  'deploy hold': { stable: false, target: 'active' },
  cleaning: { stable: false, target: 'available' },
  'clean wait': { stable: false, target: 'available' },
  'clean failed': { stable: false, target: 'available' },
  'clean hold': { stable: false, target: 'available' },
  deleting: { stable: false, target: 'available' },
  inspecting: { stable: false, target: 'manageable' },
  'inspect failed': { stable: false, target: 'manageable' },
  'inspect wait': { stable: false, target: 'manageable' },
  adopting: { stable: false, target: 'active' },
  'adopt failed': { stable: false, target: 'active' },
  rescuing: { stable: false, target: 'rescue' },
  'rescue wait': { stable: false, target: 'rescue' },
  'rescue failed': { stable: false, target: 'rescue' },
  unrescuing: { stable: false, target: 'active' },
  'unrescue failed': { stable: false, target: 'active' },
  servicing: { stable: false, target: 'active' },
  'service wait': { stable: false, target: 'active' },
  'service failed': { stable: false, target: 'active' },
  'service hold': { stable: false, target: 'active' },
} as const satisfies Record<string, { stable: boolean; target: string | null }>

export type ProvisionState = keyof typeof provisionStates

/** State, event, next state. */
export const transitions = [
  ['enroll', 'manage', 'verifying'],
  ['manageable', 'provide', 'cleaning'],
  ['manageable', 'clean', 'cleaning'],
  ['manageable', 'inspect', 'inspecting'],
  ['manageable', 'adopt', 'adopting'],
  ['available', 'deploy', 'deploying'],
  ['available', 'manage', 'manageable'],
  ['active', 'rebuild', 'deploying'],
  ['active', 'delete', 'deleting'],
  ['active', 'rescue', 'rescuing'],
  ['active', 'service', 'servicing'],
  ['error', 'rebuild', 'deploying'],
  ['error', 'delete', 'deleting'],
  ['rescue', 'rescue', 'rescuing'],
  ['rescue', 'delete', 'deleting'],
  ['rescue', 'unrescue', 'unrescuing'],
  ['verifying', 'done', 'manageable'],
  ['verifying', 'fail', 'enroll'],
  ['deploying', 'fail', 'deploy failed'],
  ['deploying', 'wait', 'wait call-back'],
  ['deploying', 'hold', 'deploy hold'],
  ['deploying', 'done', 'active'],
  ['wait call-back', 'hold', 'deploy hold'],
  ['wait call-back', 'resume', 'deploying'],
  ['wait call-back', 'fail', 'deploy failed'],
  ['wait call-back', 'abort', 'deploy failed'],
  ['wait call-back', 'delete', 'deleting'],
  ['deploy failed', 'rebuild', 'deploying'],
  ['deploy failed', 'deploy', 'deploying'],
  ['deploy failed', 'delete', 'deleting'],
  ['deploy hold', 'unhold', 'wait call-back'],
  ['deploy hold', 'abort', 'deploy failed'],
  ['cleaning', 'done', 'available'],
  ['cleaning', 'fail', 'clean failed'],
  ['cleaning', 'wait', 'clean wait'],
  ['cleaning', 'hold', 'clean hold'],
  ['cleaning', 'manage', 'manageable'],
  ['clean wait', 'fail', 'clean failed'],
  ['clean wait', 'abort', 'clean failed'],
  ['clean wait', 'hold', 'clean hold'],
  ['clean wait', 'resume', 'cleaning'],
  ['clean failed', 'manage', 'manageable'],
  ['clean hold', 'abort', 'clean failed'],
  ['clean hold', 'unhold', 'clean wait'],
  ['deleting', 'fail', 'error'],
  ['deleting', 'clean', 'cleaning'],
  ['inspecting', 'done', 'manageable'],
  ['inspecting', 'fail', 'inspect failed'],
  ['inspecting', 'wait', 'inspect wait'],
  ['inspect failed', 'manage', 'manageable'],
  ['inspect failed', 'inspect', 'inspecting'],
  ['inspect wait', 'done', 'manageable'],
  ['inspect wait', 'fail', 'inspect failed'],
  ['inspect wait', 'abort', 'inspect failed'],
  ['inspect wait', 'resume', 'inspecting'],
  ['adopting', 'done', 'active'],
  ['adopting', 'fail', 'adopt failed'],
  ['adopt failed', 'adopt', 'adopting'],
  ['adopt failed', 'manage', 'manageable'],
  ['rescuing', 'done', 'rescue'],
  ['rescuing', 'wait', 'rescue wait'],
  ['rescuing', 'fail', 'rescue failed'],
  ['rescue wait', 'resume', 'rescuing'],
  ['rescue wait', 'fail', 'rescue failed'],
  ['rescue wait', 'abort', 'rescue failed'],
  ['rescue wait', 'delete', 'deleting'],
  ['rescue failed', 'rescue', 'rescuing'],
  ['rescue failed', 'unrescue', 'unrescuing'],
  ['rescue failed', 'delete', 'deleting'],
  ['unrescuing', 'done', 'active'],
  ['unrescuing', 'fail', 'unrescue failed'],
  ['unrescue failed', 'rescue', 'rescuing'],
  ['unrescue failed', 'unrescue', 'unrescuing'],
  ['unrescue failed', 'delete', 'deleting'],
  ['servicing', 'done', 'active'],
  ['servicing', 'fail', 'service failed'],
  ['servicing', 'wait', 'service wait'],
  ['servicing', 'hold', 'service hold'],
  ['service wait', 'hold', 'service hold'],
  ['service wait', 'resume', 'servicing'],
  ['service wait', 'fail', 'service failed'],
  ['service wait', 'abort', 'service failed'],
  ['service wait', 'delete', 'deleting'],
  ['service failed', 'service', 'servicing'],
  ['service failed', 'rescue', 'rescuing'],
  ['service failed', 'wait', 'service wait'],
  ['service failed', 'hold', 'service hold'],
  ['service failed', 'delete', 'deleting'],
  ['service failed', 'abort', 'active'],
  ['service hold', 'service', 'servicing'],
  ['service hold', 'unhold', 'service wait'],
  ['service hold', 'fail', 'service failed'],
  ['service hold', 'abort', 'service failed'],
] as const satisfies readonly (readonly [ProvisionState, string, ProvisionState])[]

export type ProvisionEvent = (typeof transitions)[number][1]

const nextState = new Map<string, ProvisionState>(transitions.map(([from, event, to]) => [`${from}|${event}`, to]))

/** The state that the event leads to, or undefined when the machine refuses it. */
export function stateAfter(state: string | null, event: string): ProvisionState | undefined {
  return nextState.get(`${state}|${event}`)
}

/** The events that a state takes, in the table's order. */
export function eventsOf(state: string | null): ProvisionEvent[] {
  return transitions.filter(([from]) => from === state).map(([, event]) => event)
}

/**
 * `target_provision_state` after entering a state. A stable state clears it. Elsewhere a target that the caller names wins
 * (`clean` from `manageable` ends there again); then the one that the state declares.
 * @param current the target before, which a state without one of its own keeps unless it has just been reached
 * @param wanted must be a stable state; see `isStableState`
 */
export function targetAfter(state: ProvisionState, current: string | null, wanted?: string | null): string | null {
  const { stable, target } = provisionStates[state]
  if (stable) return null
  if (wanted !== undefined && wanted !== null) return wanted
  return target ?? (current === state ? null : current)
}

export const isProvisionState = (state: string | null): state is ProvisionState =>
  state !== null && Object.hasOwn(provisionStates, state)

/** Stable states end an operation; only they can be a target. */
export const isStableState = (state: string | null): boolean => isProvisionState(state) && provisionStates[state].stable
