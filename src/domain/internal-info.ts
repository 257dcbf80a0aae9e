/** What a conductor keeps in `driver_internal_info`, and which of it goes when. */

import type { StepPhase } from './steps.ts'

/** The part of a node that these functions touch. */
export interface WithInternalInfo {
  driver_internal_info: Record<string, unknown> | null
}

export const internalInfo = (node: WithInternalInfo): Record<string, unknown> => (node.driver_internal_info ??= {})

export function setInternal(node: WithInternalInfo, key: string, value: unknown): void {
  internalInfo(node)[key] = value
}

export function dropInternal(node: WithInternalInfo, keys: readonly string[]): void {
  const info = internalInfo(node)
  for (const key of keys) delete info[key]
}

/** The agent's address and credentials: gone when the agent cannot be running any more. */
export const agentSessionKeys = [
  'agent_secret_token',
  'agent_secret_token_pregenerated',
  'agent_url',
  'agent_verify_ca',
] as const

/** Flags by which a step tells how the flow goes on after a reboot or while it is polled. */
export const stepFlags = [
  'cleaning_reboot',
  'deployment_reboot',
  'servicing_reboot',
  'skip_current_clean_step',
  'skip_current_deploy_step',
  'skip_current_service_step',
  'cleaning_polling',
  'deployment_polling',
  'servicing_polling',
  'redfish_bios_state',
] as const

/** What a flow leaves behind, by phase; its list of steps becomes null, the rest goes. */
export const flowLeftovers: Readonly<Record<Exclude<StepPhase, 'verify'>, { steps: string; keys: readonly string[] }>> =
  {
    clean: {
      steps: 'clean_steps',
      keys: [
        'agent_cached_clean_steps',
        'clean_step_index',
        'cleaning_disable_ramdisk',
        'steps_validated',
        'declarative_cleaning',
        'agent_start_attempted',
        ...stepFlags,
      ],
    },
    deploy: {
      steps: 'deploy_steps',
      keys: [
        'user_deploy_steps',
        'agent_cached_deploy_steps',
        'deploy_step_index',
        'steps_validated',
        'image_source',
        'agent_start_attempted',
        ...stepFlags,
      ],
    },
    service: {
      steps: 'service_steps',
      keys: [
        'agent_cached_service_steps',
        'service_step_index',
        'service_disable_ramdisk',
        'steps_validated',
        'image_source',
        'agent_start_attempted',
        ...stepFlags,
      ],
    },
  }

/** What a power-off or reboot makes void. A token that was put into the image (`pregenerated`) outlives it. */
export function wipeOnPowerOff(node: WithInternalInfo): void {
  const keepToken = internalInfo(node)['agent_secret_token_pregenerated'] === true
  dropInternal(node, [
    'agent_url',
    ...(keepToken ? [] : ['agent_secret_token']),
    'agent_cached_deploy_steps',
    'agent_cached_clean_steps',
    'agent_verify_ca',
    'agent_start_attempted',
  ])
}

/** The time as Python's `isoformat` writes it into `driver_internal_info`: `2026-01-02T03:04:05.678901`. */
export const internalTime = (time: Date): string => `${time.toISOString().slice(0, 23)}000`
